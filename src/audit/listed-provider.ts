/** Longer names of providers are no names: an event may carry 64 KiB of text there. */
const LONGEST_LISTED = 256;

/** Whether a provider that events name is listed among others, in counts and in suggestions. */
export function isListedProvider(name: string): boolean {
  return name.length <= LONGEST_LISTED;
}
