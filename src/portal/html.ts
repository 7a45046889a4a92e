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
 * contain.
 */
export function html(template: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  const parts = known.get(template) ?? squeezed(template);
  let markup = parts[0] ?? "";
  for (let i = 0; i < values.length; i++) markup += render(values[i]) + (parts[i + 1] ?? "");
  return new Html(markup);
}

const known = new WeakMap<TemplateStringsArray, readonly string[]>();

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
function squeezed(template: TemplateStringsArray): readonly string[] {
  const parts = template
    .join(VALUE)
    .replace(/\s*\n\s*/g, "\n")
    .replace(/\n(?=\/?>)/g, "")
    .replace(BEFORE_BLOCK, "")
    .replace(AFTER_BLOCK, "$1")
    .split(VALUE);
  known.set(template, parts);
  return parts;
}

function render(value: HtmlValue): string {
  if (typeof value === "string") {
    return HOSTILE.test(value) ? value.replace(/[&<>"']/g, (char) => ESCAPES[char] ?? char) : value;
  }
  if (value === undefined) return "";
  if (value instanceof Html) return value.toString();
  if (typeof value !== "object") return String(value);
  let markup = "";
  for (const one of value) markup += render(one);
  return markup;
}

/** Renders prose, in which backticks mark code as in Markdown. */
export function prose(text: string): Html {
  const pieces = text.split("`");
  // With an odd number of backticks the text is left as it is.
  if (pieces.length % 2 === 0) return html`${text}`;
  return html`${pieces.map((piece, i) => (i % 2 === 0 ? piece : html`<code>${piece}</code>`))}`;
}
