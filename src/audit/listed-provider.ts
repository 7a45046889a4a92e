/** Longer texts are not names of providers: the field of an event accepts 64 KiB. */
const LONGEST_LISTED = 256;

/** Whether counts and suggestions list a provider that events name. */
export function isListedProvider(name: string): boolean {
  return name.length <= LONGEST_LISTED;
}
