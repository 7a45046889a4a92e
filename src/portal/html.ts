import { namesOf, splitAtUnseen } from "./unseen.ts";

/** Safe markup. Only `html` can make it. */
class Html {
  readonly #markup: string;

  constructor(markup: string) {
    this.#markup = markup;
  }

  toString(): string {
    return this.#markup;
  }
}

// The class stays private to this file, so that no text becomes markup unescaped.
export type { Html };

/** A value in a template: `undefined` writes nothing, and lists are joined. */
export type HtmlValue = Html | string | number | undefined | readonly HtmlValue[];

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

const HOSTILE = /[&<>"']/;

/**
 * Makes markup from a template: its literal parts are markup, and every value that is not `Html` is
 * escaped, for element content and for quoted attributes. Not for scripts or styles, which pages do not
 * contain. In element content invisible characters are shown by name, each run in an element of its own, which ends
 * its effect on the text around it: with them `rm txt.exe` may read as `rm exe.txt`.
 */
export function html(template: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  const { parts, escapeAt } = known.get(template) ?? squeezed(template);
  let markup = parts[0] ?? "";
  for (let i = 0; i < values.length; i++) {
    markup += render(values[i], escapeAt[i] ?? escaped) + (parts[i + 1] ?? "");
  }
  return new Html(markup);
}

/** Renders a text for an element that holds no others, such as a `textarea`, in parts. */
export function plainText(text: string): Html {
  return new Html(escaped(text));
}

/** The literal parts of a template, and the escaping of the value behind each. */
interface Squeezed {
  readonly parts: readonly string[];
  readonly escapeAt: readonly (typeof escaped)[];
}

const known = new WeakMap<TemplateStringsArray, Squeezed>();

/** Block and SVG elements: white space beside their tags is not visible. */
const BLOCKS =
  "html|head|meta|link|title|body|header|main|footer|nav|section|aside|div|p|h[1-6]|ul|ol|li|dl|dt|dd|" +
  "table|caption|thead|tbody|tr|th|td|form|fieldset|legend|datalist|option|details|summary|dialog|" +
  "defs|pattern|g|rect|line|path|circle";
const BEFORE_BLOCK = new RegExp(`\\s+(?=</?(?:${BLOCKS})(?![\\w-]))`, "g");
const AFTER_BLOCK = new RegExp(`(</?(?:${BLOCKS})(?:\\s[^<>]*)?>)\\s+`, "g");
const VALUE = "\0";

/**
 * The literal parts of a template without the white space of its source. This halves the size of a page
 * and the number of its text nodes.
 */
function squeezed(template: TemplateStringsArray): Squeezed {
  const markup = template
    .join(VALUE)
    .replace(/\s*\n\s*/g, "\n")
    .replace(/\n(?=\/?>)/g, "")
    .replace(BEFORE_BLOCK, "")
    .replace(AFTER_BLOCK, "$1");
  const parts = markup.split(VALUE);
  let before = "";
  const escapeAt = parts.slice(0, -1).map((part) => {
    before += part + VALUE;
    return holdsElements(before.slice(0, -1)) ? escapedText : escaped;
  });
  const found = { parts, escapeAt };
  known.set(template, found);
  return found;
}

const IN_ATTRIBUTE = /=\s*"[^"]*$/;
const IN_PLAIN_TEXT = /<(?:textarea|title|option)\b[^>]*>[^<]*$/;

/** Whether elements may follow some markup: not inside a tag or an attribute, nor in an element of text alone. */
function holdsElements(before: string): boolean {
  const isInTag = before.lastIndexOf("<") > before.lastIndexOf(">");
  return !isInTag && !IN_ATTRIBUTE.test(before) && !IN_PLAIN_TEXT.test(before);
}

function render(value: HtmlValue, escape: typeof escaped): string {
  if (typeof value === "string") return escape(value);
  if (value === undefined) return "";
  if (value instanceof Html) return value.toString();
  if (typeof value !== "object") return String(value);
  let markup = "";
  for (const one of value) markup += render(one, escape);
  return markup;
}

function escaped(text: string): string {
  return HOSTILE.test(text) ? text.replace(/[&<>"']/g, (char) => ESCAPES[char] ?? char) : text;
}

function escapedText(text: string): string {
  const pieces = splitAtUnseen(text);
  if (!pieces) return escaped(text);
  return pieces
    .map((piece, i) =>
      i % 2 === 0
        ? escaped(piece)
        : `<span class="unseen" title="${namesOf(piece)}">${piece}</span>`,
    )
    .join("");
}

/** Renders prose, in which backticks mark code as in Markdown. */
export function prose(text: string): Html {
  const pieces = text.split("`");
  // With an odd number of backticks the text is left as it is.
  if (pieces.length % 2 === 0) return html`${text}`;
  return html`${pieces.map((piece, i) => (i % 2 === 0 ? piece : html`<code>${piece}</code>`))}`;
}
