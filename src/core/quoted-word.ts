const PLAIN_WORD = /^[\w@%+=:,./-]+$/;

/** Whether a text is one word for a shell, without quotes, expansions and operators. */
export function isPlainWord(text: string): boolean {
  return PLAIN_WORD.test(text);
}

/** Quotes a word for a shell; a plain word stays as it is. */
export function quotedWord(word: string): string {
  return isPlainWord(word) ? word : shellQuoted(word);
}

/**
 * The words of a command as a shell text. A program named `HOME=/x` gets quotes: without them, it would be an assignment
 * in front of the next word.
 */
export function commandText([program, ...words]: readonly string[]): string {
  if (program === undefined) return "";
  const first = program.includes("=") ? shellQuoted(program) : quotedWord(program);
  return [first, ...words.map(quotedWord)].join(" ");
}

/** Quotes a word for a shell: between single quotes only the quote itself is special. */
export function shellQuoted(word: string): string {
  return `'${word.split("'").join("'\\''")}'`; // `replaceAll` takes six times as long where there are many
}
