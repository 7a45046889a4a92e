/** Controls, marks of direction, other invisible characters, and unpaired surrogates. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/**
 * Escapes characters that a terminal would obey or not show, as `\u001b`: a file may have any name,
 * and an escape sequence in it could overwrite a report. JSON remains JSON of the same value.
 */
export function printable(text: string): string {
  return text.replace(UNSEEN, (character) =>
    Array.from({ length: character.length }, (_, at) => {
      const digits = character.charCodeAt(at).toString(16);
      return `\\u${digits.padStart(4, "0")}`;
    }).join(""),
  );
}
