/** Markup that is safe to send: made by `html`, which alone can make it. */
class Html {
  readonly #markup: string;

  constructor(markup: string) {
    this.#markup = markup;
  }

  toString(): string {
    return this.#markup;
  }
}

// The class itself stays private to this file, so that no text becomes markup unescaped.
export type { Html };

/** What may stand in a template: nothing is written for `undefined`, and lists are joined. */
export type HtmlValue = Html | string | number | undefined | readonly HtmlValue[];

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/**
 * Tags a template as HTML: its literal parts are markup, and every value that is not `Html`
 * already is escaped, for element content and for attributes in quotes. Not for use inside of
 * scripts or styles, which pages do not have.
 */
export function html(template: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  const parts = squeezed(template);
  let markup = parts[0] ?? "";
  values.forEach((value, i) => {
    markup += render(value) + (parts[i + 1] ?? "");
  });
  return new Html(markup);
}

const known = new WeakMap<TemplateStringsArray, readonly string[]>();

/** A template's own parts without the indentation that its source has: a third of a page's weight. */
function squeezed(template: TemplateStringsArray): readonly string[] {
  const found = known.get(template);
  if (found) return found;
  const parts = template.map((part) => part.replace(/\n\s+/g, "\n"));
  known.set(template, parts);
  return parts;
}

function render(value: HtmlValue): string {
  if (value === undefined) return "";
  if (value instanceof Html) return value.toString();
  if (typeof value === "object") return value.map(render).join("");
  return String(value).replace(/[&<>"']/g, (char) => ESCAPES[char] ?? char);
}

/** Writes text for people, in which backticks mark code as they do in Markdown. */
export function prose(text: string): Html {
  const pieces = text.split("`");
  // An odd number of backticks is no pair: the text then stands as it is.
  if (pieces.length % 2 === 0) return html`${text}`;
  return html`${pieces.map((piece, i) => (i % 2 === 0 ? piece : html`<code>${piece}</code>`))}`;
}
