import { html, type HtmlValue } from "./html.ts";

/** A longer word may be wider than its place, and breaks anywhere. */
const LONGEST_WORD = 24;
/** The words of longer texts would be too many elements. */
const LONGEST_TEXT = 1_000;

/** A command whose lines break between words, and not behind the hyphens of its options, as browsers break them. */
export function unbroken(command: string): HtmlValue {
  if (command.length > LONGEST_TEXT) return command;
  return command
    .split(/(\s+)/)
    .map((word) =>
      word.includes("-") && word.length <= LONGEST_WORD
        ? html`<span class="nowrap">${word}</span>`
        : word,
    );
}
