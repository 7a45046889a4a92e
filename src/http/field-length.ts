/**
 * The most characters of `Accept` or `Accept-Encoding`. A longer field counts as absent, and the answer is right without
 * it. A field of 16 KiB has up to 15,000 elements, which take 2 to 7 ms: a hundred connections that sent such requests
 * ahead held up new connections for seconds. Browsers send 200 characters.
 */
export const MOST_LIST_CHARACTERS = 1_024;

/** Whether a field is too long to be read as a list. */
export function isTooLong(field: string): boolean {
  return field.length > MOST_LIST_CHARACTERS;
}
