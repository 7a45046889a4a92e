/** Controls, marks of direction, other invisible characters, and unpaired surrogates. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/**
 * Writes control characters and invisible characters as escapes such as `\u001b`: the name of a file could
 * contain an escape sequence that overwrites a report in the terminal. JSON keeps its value.
 */
export function printable(text: string): string {
  return text.replace(UNSEEN, (character) =>
    Array.from({ length: character.length }, (_, at) => {
      const digits = character.charCodeAt(at).toString(16);
      return `\\u${digits.padStart(4, "0")}`;
    }).join(""),
  );
}

/** A text whose control characters a terminal shows instead of obeying them. */
export function printableLines(text: string): string {
  return text.split("\n").map(printable).join("\n");
}
