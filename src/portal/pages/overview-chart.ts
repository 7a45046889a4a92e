import type { Histogram } from "../../audit/schema.ts";
import { count } from "../format.ts";
import { html, type Html } from "../html.ts";

const HEIGHT = 190;
const AXIS = 34;
const BOTTOM = 20;
const TOP = 8;
const LINES = 4;
const LABEL_EVERY = 4;

type Bucket = Histogram["buckets"][number];

/**
 * The hours of a day as stacked bars, drawn without a library; the table beside it says the same.
 * Across, everything is in percent, so that bars fill any width and letters keep their size.
 */
export function hourlyChart({ buckets }: Histogram): Html {
  const top = niceTop(Math.max(0, ...buckets.map(totalOf)));
  const plot = HEIGHT - BOTTOM - TOP;
  const y = (value: number): number => round(TOP + plot - (plot * value) / top);
  const step = 100 / Math.max(1, buckets.length);
  const lines = Array.from({ length: LINES + 1 }, (_, i) => (top * i) / LINES);
  return html`<div class="chart" aria-hidden="true">
    <svg width="${AXIS}" height="${HEIGHT}">
      ${lines.map(
        (value) =>
          html`<text x="${AXIS - 6}" y="${y(value) + 4}" text-anchor="end"
            >${axisLabel(value)}</text
          >`,
      )}
    </svg>
    <svg width="100%" height="${HEIGHT}">
      ${stripes("denied-stripes")}
      ${lines.map(
        (value) =>
          html`<line
            class="${value === 0 ? "base" : "gridline"}"
            x2="100%"
            y1="${y(value)}"
            y2="${y(value)}"
          ></line>`,
      )}
      ${buckets.map((bucket, i) => bar(bucket, { x: i * step, step, y }))}
      ${buckets.map((bucket, i) =>
        i % LABEL_EVERY === 0 && i < buckets.length - 2
          ? html`<text x="${round(i * step)}%" y="${HEIGHT - 4}">${hourOf(bucket)}</text>`
          : undefined,
      )}
    </svg>
  </div>`;
}

/** Where a bar stands: across in percent, up in pixels. */
interface Place {
  readonly x: number;
  readonly step: number;
  readonly y: (value: number) => number;
}

function bar(bucket: Bucket, { x, step, y }: Place): Html {
  const piece = (paint: Html, from: number, to: number): Html | undefined =>
    to === from
      ? undefined
      : html`<rect
          ${paint}
          x="${round(x + step * 0.14)}%"
          width="${round(step * 0.72)}%"
          y="${y(to)}"
          height="${round(y(from) - y(to))}"
        ></rect>`;
  const { allowed, denied, other } = bucket;
  const [decided, total] = [allowed + other, totalOf(bucket)];
  return html`<g>
    <title>${hourOf(bucket)} UTC: ${wordsFor(bucket)}</title>
    <rect
      class="hit"
      x="${round(x)}%"
      width="${round(step)}%"
      y="${TOP}"
      height="${HEIGHT - BOTTOM - TOP}"
    ></rect>
    ${piece(html`class="fill-allowed"`, 0, allowed)}
    ${piece(html`class="fill-other"`, allowed, decided)}
    ${piece(html`class="fill-denied"`, decided, total)}
    ${denied > 0 ? piece(html`fill="url(#denied-stripes)"`, decided, total) : undefined}
  </g>`;
}

/** What tells denied from allowed to those who do not tell red from green. */
function stripes(id: string): Html {
  return html`<defs>
    <pattern
      id="${id}"
      width="5"
      height="5"
      patternUnits="userSpaceOnUse"
      patternTransform="rotate(45)"
    >
      <line class="stripe" x1="0" y1="0" x2="0" y2="5"></line>
    </pattern>
  </defs>`;
}

/** What the colours of the chart mean. */
export function chartLegend({ buckets }: Histogram): Html {
  const hasOther = buckets.some(({ other }) => other > 0);
  const entry = (className: string, word: string, isStriped = false): Html =>
    html`<li>
      <svg viewBox="0 0 10 10" aria-hidden="true">
        <rect class="${className}" width="10" height="10" rx="2"></rect>
        ${
          isStriped
            ? html`<path class="stripe" d="M0 5 5 0M0 10 10 0M5 10 10 5" fill="none"></path>`
            : undefined
        }</svg
      >${word}
    </li>`;
  return html`<ul class="legend">
    ${entry("fill-allowed", "Allowed")} ${entry("fill-denied", "Denied", true)}
    ${hasOther ? entry("fill-other", "No decision") : undefined}
  </ul>`;
}

/** The same numbers as a table, newest hour first, which everybody may open. */
export function hourlyTable({ buckets }: Histogram): Html {
  return html`<details class="as-table" id="hours">
    <summary>Show as a table</summary>
    <div class="scroll" tabindex="0" role="region" aria-label="Commands by hour">
      <table>
        <caption class="visually-hidden">
          Commands by hour, newest first
        </caption>
        <thead>
          <tr>
            <th scope="col">Hour (UTC)</th>
            <th scope="col" class="num">Allowed</th>
            <th scope="col" class="num">Denied</th>
            <th scope="col" class="num">No decision</th>
          </tr>
        </thead>
        <tbody>
          ${[...buckets].reverse().map(
            (bucket) =>
              html`<tr>
                <th scope="row">${bucket.start.slice(0, 10)} ${hourOf(bucket)}</th>
                <td class="num">${count(bucket.allowed)}</td>
                <td class="num">${count(bucket.denied)}</td>
                <td class="num">${count(bucket.other)}</td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
  </details>`;
}

/** The lowest top of the scale whose quarter lines are whole numbers that read well. */
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

function totalOf({ allowed, denied, other }: Bucket): number {
  return allowed + denied + other;
}

function hourOf({ start }: Bucket): string {
  return start.slice(11, 16);
}

function wordsFor({ allowed, denied, other }: Bucket): string {
  const more = other > 0 ? `, ${count(other)} without a decision` : "";
  return `${count(allowed)} allowed, ${count(denied)} denied${more}`;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
