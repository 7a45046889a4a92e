import { diffCounts, diffLines, linesOf, type DiffRun } from "../diff.ts";
import { count } from "../format.ts";
import { html, type Html } from "../html.ts";
import { withUnseen } from "../unseen.ts";
import { highlightYaml, type Token } from "../yaml-highlight.ts";

const CONTEXT = 3;
const LONGEST_COLOURED = 200_000;
const MOST_ROWS = 5_000;

/** A document with its lines numbered and coloured; a very long one is numbered only. */
export function policyText(yaml: string): Html {
  const lines = linesOf(yaml);
  const tokens = yaml.length <= LONGEST_COLOURED ? highlightYaml(lines) : undefined;
  const shown = lines.map((line, i) => {
    const end = i === lines.length - 1 ? "" : "\n";
    const content = tokens?.[i]?.map(colouredToken) ?? withUnseen(line);
    return html`<span class="line" id="L${i + 1}">${content}</span>${end}`;
  });
  return html`<div class="code" tabindex="0" role="region" aria-label="Policy document">
    <pre><code>${shown}</code></pre>
  </div>`;
}

function colouredToken({ kind, text }: Token): Html {
  return kind === "plain"
    ? html`${withUnseen(text)}`
    : html`<span class="y-${kind}">${withUnseen(text)}</span>`;
}

/** How many lines differ, in words. */
export function changesInWords(left: string, right: string): string {
  const { removed, added } = diffCounts(diffLines(linesOf(left), linesOf(right)));
  if (removed + added === 0) return "no line changes";
  const words = [
    added > 0 ? `${lines(added)} added` : "",
    removed > 0 ? `${lines(removed)} removed` : "",
  ];
  return words.filter((word) => word !== "").join(", ");
}

function lines(number: number): string {
  return number === 1 ? "1 line" : `${count(number)} lines`;
}

/** Two documents side by side: what differs, with a few common lines around it. */
export function policyDiff(
  left: { readonly name: string; readonly yaml: string },
  right: { readonly name: string; readonly yaml: string },
): Html {
  const [a, b] = [linesOf(left.yaml), linesOf(right.yaml)];
  const runs = diffLines(a, b);
  if (runs.every(({ kind }) => kind === "same")) {
    return html`<div class="empty">
      <strong>No difference</strong>Line for line the same text.
    </div>`;
  }
  const rows = diffRows(runs, a, b);
  return html`<div class="diff" tabindex="0" role="region" aria-label="Difference">
    <table>
      <colgroup>
        <col class="number" />
        <col />
        <col class="number" />
        <col />
      </colgroup>
      <thead>
        <tr>
          <th scope="col" colspan="2">${left.name}</th>
          <th scope="col" colspan="2">${right.name}</th>
        </tr>
      </thead>
      <tbody>
        ${rows.slice(0, MOST_ROWS)}
      </tbody>
    </table>
    ${
      rows.length > MOST_ROWS
        ? html`<p class="empty">${count(rows.length - MOST_ROWS)} more rows are not shown.</p>`
        : undefined
    }
  </div>`;
}

function diffRows(
  runs: readonly DiffRun[],
  a: readonly string[],
  b: readonly string[],
): readonly Html[] {
  return runs.flatMap((run, at) => {
    if (run.kind === "same") return commonRows(run, a, at === 0, at === runs.length - 1);
    const before = runs[at - 1];
    if (run.kind === "added" && before?.kind === "removed") return []; // shown beside it
    const after = run.kind === "removed" ? runs[at + 1] : undefined;
    const added = run.kind === "added" ? run : after?.kind === "added" ? after : undefined;
    const removed = run.kind === "removed" ? run : undefined;
    return Array.from({ length: Math.max(removed?.count ?? 0, added?.count ?? 0) }, (_, i) => {
      const l = removed && i < removed.count ? removed.left + i : undefined;
      const r = added && i < added.count ? added.right + i : undefined;
      return html`<tr class="changed">
        ${side("removed", l, l === undefined ? "" : a[l])}
        ${side("added", r, r === undefined ? "" : b[r])}
      </tr>`;
    });
  });
}

function side(kind: "removed" | "added", at: number | undefined, line = ""): Html {
  if (at === undefined)
    return html`<td class="n none"></td>
      <td class="none"></td>`;
  const sign = kind === "removed" ? "−" : "+";
  const word = kind === "removed" ? "removed" : "added";
  return html`<td class="n ${kind}">${at + 1}</td>
    <td class="${kind}">
      <span class="sign" title="${word}">${sign}</span><code>${withUnseen(line)}</code>
    </td>`;
}

function commonRows(
  { left, right, count: length }: DiffRun,
  a: readonly string[],
  isFirst: boolean,
  isLast: boolean,
): readonly Html[] {
  const row = (i: number): Html =>
    html`<tr class="common">
      <td class="n">${left + i + 1}</td>
      <td><code>${withUnseen(a[left + i] ?? "")}</code></td>
      <td class="n">${right + i + 1}</td>
      <td><code>${withUnseen(a[left + i] ?? "")}</code></td>
    </tr>`;
  const head = isFirst ? 0 : CONTEXT;
  const tail = isLast ? 0 : CONTEXT;
  const hidden = length - head - tail;
  const rows = (from: number, to: number): readonly Html[] =>
    Array.from({ length: Math.max(0, to - from) }, (_, i) => row(from + i));
  if (hidden <= 1) return rows(0, length);
  const gap = html`<tr class="gap">
    <td colspan="4">${lines(hidden)} the same</td>
  </tr>`;
  return [...rows(0, head), gap, ...rows(length - tail, length)];
}
