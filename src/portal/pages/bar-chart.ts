import { count } from "../format.ts";
import { html, type Html, type HtmlValue } from "../html.ts";
import { zoneWords } from "../zone.ts";
import { numberHeading, table } from "./parts.ts";
import { totalOf } from "./time-chart.ts";

const AXIS = 34;
const BOTTOM = 20;
const TOP = 8;
const LINES = 4;

/** Events of one span of time, by decision. */
export interface ChartBar {
  readonly allowed: number;
  readonly denied: number;
  readonly other: number;
  /** The start of the span in the shown zone. */
  readonly name: string;
  /** The label below the bar. */
  readonly label: string | undefined;
  /** The address of its events. */
  readonly href: string;
}

/**
 * Renders stacked bars. A table beside them has to hold the same numbers, since screen readers skip the
 * bars. Bars without events are left out. Widths are in percent, so that bars fill any width and letters keep their size.
 *
 * @param height in pixels
 * @param id unique in the page; the ids of the chart's patterns begin with it
 */
export function barChart(bars: readonly ChartBar[], height: number, id: string): Html {
  const top = niceTop(Math.max(0, ...bars.map(totalOf)));
  const plot = height - BOTTOM - TOP;
  const y = (value: number): number => round(TOP + plot - (plot * value) / top);
  const step = 100 / Math.max(1, bars.length);
  const lines = Array.from({ length: LINES + 1 }, (_, i) => (top * i) / LINES);
  return html`<div class="chart" aria-hidden="true">
    <svg width="${AXIS}" height="${height}">
      ${lines.map(
        (value) =>
          html`<text x="${AXIS - 6}" y="${y(value) + 4}" text-anchor="end"
            >${axisLabel(value)}</text
          >`,
      )}
    </svg>
    <svg class="plot" data-bars="${bars.length}" width="100%" height="${height}">
      ${stripes(id)}
      ${lines.map(
        (value) =>
          html`<line
            class="${value === 0 ? "base" : "gridline"}"
            x2="100%"
            y1="${y(value)}"
            y2="${y(value)}"
          />`,
      )}
      <g fill="url(#${id}-stripes)">
        ${bars.map((bar, i) => (totalOf(bar) > 0 ? drawn(bar, i * step, step, y) : undefined))}
      </g>
      ${bars.map(({ label }, i) =>
        label === undefined
          ? undefined
          : html`<text x="${round(i * step)}%" y="${height - 4}">${label}</text>`,
      )}
      ${
        bars.some((bar) => totalOf(bar) > 0)
          ? undefined
          : html`<text x="50%" y="${y((top * 5) / 8) + 4}" text-anchor="middle"
              >Nothing in this time</text
            >`
      }
    </svg>
  </div>`;
}

/**
 * A bar in an `svg` of its own, so that the style sheet holds everything that all bars share.
 *
 * @param x the left edge in percent, as `step` is the width
 * @param y turns a number of events into pixels
 */
function drawn(bar: ChartBar, x: number, step: number, y: (value: number) => number): Html {
  // The chart is hidden from screen readers, so its links must not take the focus either.
  return html`<a href="${bar.href}" tabindex="-1">
    <svg x="${round(x)}%" width="${round(step)}%">
      <title>${bar.name} ${zoneWords()}: ${wordsFor(bar)}</title>
      <rect class="hit" />
      ${pieces(bar, y)}
    </svg>
  </a>`;
}

function pieces({ allowed, denied, other }: ChartBar, y: (value: number) => number): Html {
  const piece = (paint: Html | undefined, from: number, to: number): Html | undefined =>
    to === from
      ? undefined
      : html`<rect ${paint} y="${y(to)}" height="${round(y(from) - y(to))}" />`;
  const [decided, total] = [allowed + other, allowed + other + denied];
  return html`${piece(html`class="fill-allowed"`, 0, allowed)}${piece(html`class="fill-other"`, allowed, decided)}${piece(undefined, decided, total)}`;
}

/** The pattern of denied bars, for readers who do not tell red from green. */
function stripes(id: string): Html {
  return html`<defs>
    <pattern
      id="${id}-stripes"
      width="5"
      height="5"
      patternUnits="userSpaceOnUse"
      patternTransform="rotate(45)"
    >
      <rect class="fill-denied" width="5" height="5" />
      <line class="stripe" x1="0" y1="0" x2="0" y2="5" />
    </pattern>
  </defs>`;
}

/** The legend of a chart. */
export function chartLegend(bars: readonly Pick<ChartBar, "allowed" | "denied" | "other">[]): Html {
  const hasOther = bars.some(({ other }) => other > 0);
  return html`<ul class="legend">
    ${legendEntry("fill-allowed", "Allowed")} ${legendEntry("fill-denied", "Denied", STRIPES)}
    ${hasOther ? legendEntry("fill-other", "No decision") : undefined}
  </ul>`;
}

const STRIPES = html`<path class="stripe" d="M0 5 5 0M0 10 10 0M5 10 10 5" fill="none"></path>`;

/** An entry of a legend: a square with the class of the bars, and their name. */
export function legendEntry(className: string, name: HtmlValue, stripes?: Html): Html {
  return html`<li>
    <svg viewBox="0 0 10 10" aria-hidden="true">
      <rect class="${className}" width="10" height="10" rx="2"></rect>
      ${stripes}</svg
    >${name}
  </li>`;
}

/**
 * Renders the same numbers as a table, newest first, behind a disclosure. Spans without events are left
 * out: most are empty in a quiet time.
 *
 * @param id unique in the page
 * @param name the name of the table for screen readers
 * @param head the heading of the first column
 */
export function barTable(bars: readonly ChartBar[], id: string, name: string, head: string): Html {
  const counted = bars.filter((bar) => totalOf(bar) > 0);
  const rows = counted.reverse().map(
    ({ name: start, href, allowed, denied, other }) =>
      html`<tr>
        <th scope="row"><a href="${href}">${start}</a></th>
        <td>${count(allowed)}</td>
        <td>${count(denied)}</td>
        <td>${count(other)}</td>
      </tr>`,
  );
  const headings = [head, ...["Allowed", "Denied", "No decision"].map(numberHeading)];
  return html`<details class="as-table" id="${id}">
    <summary>Show as a table</summary>
    ${table(`${name}, newest first`, "", headings, rows)}
  </details>`;
}

/** The lowest top of the scale with round whole numbers at its quarter lines. */
function niceTop(highest: number): number {
  let unit = 1;
  for (;;) {
    for (const factor of unit === 1 ? [1, 2, 3, 5] : [1, 1.5, 2, 2.5, 3, 4, 5, 7.5]) {
      if (factor * unit * LINES >= highest) return factor * unit * LINES;
    }
    unit *= 10;
  }
}

function axisLabel(value: number): string {
  if (value >= 1e6) return `${round(value / 1e6)}M`;
  return value >= 10_000 ? `${round(value / 1e3)}k` : count(value);
}

function wordsFor({ allowed, denied, other }: ChartBar): string {
  const more = other > 0 ? `, ${count(other)} without a decision` : "";
  return `${count(allowed)} allowed, ${count(denied)} denied${more}`;
}

/** Rounds to hundredths: an `svg` needs no more. */
export function round(value: number): number {
  return Math.round(value * 100) / 100;
}
