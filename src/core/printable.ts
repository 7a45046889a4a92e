/** Controls, marks of direction, other characters without a form of their own, and halves of pairs. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/**
 * Escapes characters that a terminal would act on or not show, as `\u001b`: a file may have any name, and
 * an escape sequence in it would write over what a report says. JSON stays JSON of the same value.
 */
export function printable(text: string): string {
  return text.replace(UNSEEN, (character) =>
    Array.from({ length: character.length }, (_, at) => {
      const digits = character.charCodeAt(at).toString(16);
      return `\\u${digits.padStart(4, "0")}`;
    }).join(""),
  );
}
