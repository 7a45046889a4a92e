/** Longer texts are not names of providers: an event may carry 64 KiB there. */
const LONGEST_LISTED = 256;

/** Whether counts and suggestions list a provider that events name. */
export function isListedProvider(name: string): boolean {
  return name.length <= LONGEST_LISTED;
}
