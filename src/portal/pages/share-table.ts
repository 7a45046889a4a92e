import { count } from "../format.ts";
import { html, type Html, type HtmlValue } from "../html.ts";

/**
 * A row of a table of shares: a name, a bar, a number.
 *
 * @param most the highest number of the table, whose bar is full
 * @param tone the class of the bar; empty for the usual one
 */
export function shareRow(name: Html, value: number, most: number, tone = ""): Html {
  const share = Math.round((100 * value) / most);
  return html`<tr>
    <td>${name}</td>
    <td class="bar">
      <svg class="${tone}" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
        <rect width="${value > 0 ? Math.max(1, share) : 0}" height="1"></rect>
      </svg>
    </td>
    <td class="num">${count(value)}</td>
  </tr>`;
}

/** Renders such rows as a table; only screen readers get its headings. */
export function shareTable(first: string, last: string, rows: HtmlValue): Html {
  return html`<table class="bars">
    <thead class="visually-hidden">
      <tr>
        ${[first, "Share", last].map((heading) => html`<th scope="col">${heading}</th>`)}
      </tr>
    </thead>
    <tbody>
      ${rows}
    </tbody>
  </table>`;
}
