import type { Work } from "../../core/scheduling/work.ts";
import { changedPart, type ChangedPart } from "../changed-part.ts";
import { diffCounts, diffLines, linesOf, type DiffRun } from "../diff.ts";
import { count, counted } from "../format.ts";
import { html, type Html } from "../html.ts";
import { ruleLink } from "../page-link.ts";
import { highlighter, type Token } from "../yaml-highlight.ts";

const CONTEXT = 3;
/** The most characters of a document that are shown and compared; a long policy has a fiftieth. */
export const DOCUMENT_CHARACTERS = 200_000;
export const DOCUMENT_LINES = 5_000;
/** Longer lines are shown in one colour. */
export const LONGEST_COLOURED = 2_000;
/** The key at the root of a document in block style. */
const OBSERVES = /^mode: *["']?observe\b/m;
const OURS = /^schema: *["']?signalbox\/policy\/v1\b/m;
/** A line that gives a rule its id, in block style. */
const RULE_ID = /^ *(?:- +)?id: +(?<quote>["']?)(?<id>[^\s"'#{}[\],&*!|>%@`][^"'#]*?)\k<quote> *$/;
/** The most lines of one rule that are shown. */
const MOST_LINES = 200;
const MOST_ROWS = 5_000;
/** The most common lines that open at each end of a gap. */
const MOST_OPENED = 100;

/** The document of a version, and the link to the whole of it. */
export interface ShownDocument {
  readonly name: string;
  readonly yaml: string;
  /** Absent for an unpublished text. */
  readonly href?: string;
}

/** Whether a document, in block style, is in observe mode. */
export function observes(yaml: string): boolean {
  return OURS.test(yaml) && OBSERVES.test(yaml);
}

/** Says what a document in observe mode does; `undefined` for any other document. */
export function observeNotice(yaml: string, subject = "This version"): Html | undefined {
  if (!observes(yaml)) return undefined;
  return html`<p class="notice inside">
    ${subject} <b>observes</b>: runtimes that know this mode let every command run, and report what
    would be denied. Nothing is stopped.
  </p>`;
}

/** Renders a document with numbered and highlighted lines, or the beginning of a very long one. */
export function* policyText(document: ShownDocument): Work<Html> {
  const { lines, isCut } = beginningOf(document.yaml);
  const tokensOf = highlighter();
  const hasRules = document.href !== undefined && OURS.test(document.yaml);
  const shown: Html[] = [];
  for (const [i, line] of lines.entries()) {
    const isColoured = line.length <= LONGEST_COLOURED;
    const id = hasRules && isColoured ? RULE_ID.exec(line)?.groups?.["id"] : undefined;
    const content = isColoured ? coloured(tokensOf(line), document.name, id) : line;
    const end = i === lines.length - 1 ? "" : "\n";
    shown.push(html`<span class="line" id="L${i + 1}">${content}</span>${end}`);
    yield;
  }
  return html`<div class="code" tabindex="0" role="region" aria-label="Policy document">
      <pre><code>${shown}</code></pre>
    </div>
    ${isCut ? cutNotice([document]) : undefined}`;
}

/** Renders some lines of a document, with their numbers and their common indent removed. */
export function policyLines(yaml: string, first: number, last: number): Html {
  const lines = linesOf(yaml).slice(first - 1, Math.min(last, first - 1 + MOST_LINES));
  const tokensOf = highlighter();
  const shown = lines.map((line, i) => {
    const content =
      line.length <= LONGEST_COLOURED
        ? tokensOf(line).map(colouredToken)
        : line.slice(0, LONGEST_COLOURED);
    return html`<span class="line" id="L${first + i}" data-line="${first + i}">${content}</span
      >${"\n"}`;
  });
  return html`<div class="code numbered" tabindex="0" role="region" aria-label="Text of the rule">
    <pre><code>${shown}</code></pre>
  </div>`;
}

function beginningOf(yaml: string): { readonly lines: readonly string[]; readonly isCut: boolean } {
  // The cut must not split a surrogate pair.
  const text = yaml.slice(0, DOCUMENT_CHARACTERS).replace(/[\ud800-\udbff]$/, "");
  const lines = linesOf(text);
  const isCut = text.length < yaml.length || lines.length > DOCUMENT_LINES;
  return { lines: lines.slice(0, DOCUMENT_LINES), isCut };
}

function cutNotice(documents: readonly ShownDocument[]): Html {
  return html`<p class="inside faint">
    Only the first ${count(DOCUMENT_LINES)} lines or ${count(DOCUMENT_CHARACTERS)} characters are
    shown here.
    ${documents.map(({ name, href }) => href && html`<a href="${href}">All of ${name} as JSON</a> `)}
  </p>`;
}

/** Renders the tokens of a line; the id of a rule leads to the page of the rule. */
function coloured(tokens: readonly Token[], version: string, id: string | undefined): Html[] {
  if (id === undefined) return tokens.map(colouredToken);
  const at = tokens.findLastIndex(({ text }) => text.trim() !== "");
  return tokens.map((token, i) =>
    i === at
      ? html`<a href="${ruleLink(version, id)}">${colouredToken(token)}</a>`
      : colouredToken(token),
  );
}

/** Renders a token of a line. */
export function colouredToken({ kind, text }: Token): Html {
  return kind === "plain" ? html`${text}` : html`<span class="y-${kind}">${text}</span>`;
}

/** The difference of two documents, rendered and in words. */
export interface PolicyChanges {
  readonly shown: Html;
  readonly words: string;
}

/**
 * Renders the difference of two documents side by side, with a few common lines around each change. The
 * reader can open the other common lines, also without modules.
 */
export function* policyChanges(left: ShownDocument, right: ShownDocument): Work<PolicyChanges> {
  const [a, b] = [beginningOf(left.yaml), beginningOf(right.yaml)];
  const runs = yield* diffLines(a.lines, b.lines);
  const notice = a.isCut || b.isCut ? cutNotice([left, right]) : undefined;
  const words = changesInWords(runs);
  if (runs.every(({ kind }) => kind === "same")) {
    const shown = html`<div class="empty">
        <strong>No difference</strong>Line for line the same text.
      </div>
      ${notice}`;
    return { shown, words };
  }
  const parts: Html[] = [];
  let number = 0;
  let hidden = 0;
  for (const { closed, rows } of partsOfDiff(runs, a.lines, b.lines)) {
    const shown: Html[] = [];
    for (const row of rows) {
      if (number < MOST_ROWS) shown.push(row());
      else hidden++;
      number++;
      yield;
    }
    if (shown.length === 0) continue;
    if (closed > 0) parts.push(gap(closed));
    parts.push(
      html`<tbody class="${closed > 0 ? "rest" : "open"}">
        ${shown}
      </tbody>`,
    );
  }
  const shown = html`<div class="diff" tabindex="0" role="region" aria-label="Difference">
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
        ${parts}
      </table>
      ${hidden > 0 ? html`<p class="empty">${count(hidden)} more rows are not shown.</p>` : undefined}
    </div>
    ${notice}`;
  return { shown, words };
}

function changesInWords(runs: readonly DiffRun[]): string {
  const { removed, added } = diffCounts(runs);
  if (removed + added === 0) return "no line changes";
  const words = [
    added > 0 ? `${counted(added, "line")} added` : "",
    removed > 0 ? `${counted(removed, "line")} removed` : "",
  ];
  return words.filter((word) => word !== "").join(", ");
}

/** A row of a difference, rendered when it is shown. */
type Row = () => Html;

/** A part of a difference; `closed` is the number of common lines behind its heading, 0 without one. */
interface DiffPart {
  readonly closed: number;
  readonly rows: readonly Row[];
}

function partsOfDiff(
  runs: readonly DiffRun[],
  a: readonly string[],
  b: readonly string[],
): readonly DiffPart[] {
  return runs.flatMap((run, at) => {
    if (run.kind === "same") return commonParts(run, a, at === 0, at === runs.length - 1);
    const before = runs[at - 1];
    if (run.kind === "added" && before?.kind === "removed") return []; // shown beside it
    const after = run.kind === "removed" ? runs[at + 1] : undefined;
    const added = run.kind === "added" ? run : after?.kind === "added" ? after : undefined;
    const removed = run.kind === "removed" ? run : undefined;
    const length = Math.max(removed?.count ?? 0, added?.count ?? 0);
    const rows = Array.from({ length }, (_, i) => {
      const l = removed && i < removed.count ? removed.left + i : undefined;
      const r = added && i < added.count ? added.right + i : undefined;
      const [old, fresh] = [
        l === undefined ? "" : (a[l] ?? ""),
        r === undefined ? "" : (b[r] ?? ""),
      ];
      return () => {
        const marks = l === undefined || r === undefined ? undefined : changedPart(old, fresh);
        return html`<tr class="changed">
          ${side("removed", l, old, marks)} ${side("added", r, fresh, marks)}
        </tr>`;
      };
    });
    return [{ closed: 0, rows }];
  });
}

function side(
  kind: "removed" | "added",
  at: number | undefined,
  line: string,
  marks: ChangedPart | undefined,
): Html {
  if (at === undefined)
    return html`<td class="n none"></td>
      <td class="none"></td>`;
  const sign = kind === "removed" ? "−" : "+";
  return html`<td class="n ${kind}">${at + 1}</td>
    <td class="${kind}">
      <span class="sign" title="${kind}">${sign}</span><code>${marked(line, marks)}</code>
    </td>`;
}

/** Renders a line with its changed part marked. */
function marked(line: string, marks: ChangedPart | undefined): Html {
  if (!marks) return html`${line}`;
  const { before, after } = marks;
  const [changed, end] = [line.slice(before, line.length - after), line.slice(line.length - after)];
  const mark = changed === "" ? undefined : html`<mark>${changed}</mark>`;
  return html`${line.slice(0, before)}${mark}${end}`;
}

/** The parts of a common run: the lines beside changes, and between them the closed ones. */
function commonParts(
  { left, right, count: length }: DiffRun,
  a: readonly string[],
  isFirst: boolean,
  isLast: boolean,
): readonly DiffPart[] {
  const row = (i: number): Html =>
    html`<tr class="common">
      <td class="n">${left + i + 1}</td>
      <td><code>${a[left + i] ?? ""}</code></td>
      <td class="n">${right + i + 1}</td>
      <td><code>${a[left + i] ?? ""}</code></td>
    </tr>`;
  const rows = (from: number, to: number): readonly Row[] =>
    Array.from({ length: Math.max(0, to - from) }, (_, i) => () => row(from + i));
  const head = isFirst ? 0 : CONTEXT;
  const tail = length - (isLast ? 0 : CONTEXT);
  if (tail - head <= 1) return [{ closed: 0, rows: rows(0, length) }];
  const missing = tail - head - 2 * MOST_OPENED;
  const note = (): Html =>
    html`<tr class="gap">
      <td colspan="4">${counted(missing, "more line")} the same</td>
    </tr>`;
  const closed =
    missing <= 0
      ? rows(head, tail)
      : [...rows(head, head + MOST_OPENED), note, ...rows(tail - MOST_OPENED, tail)];
  return [
    { closed: 0, rows: rows(0, head) },
    { closed: tail - head, rows: closed },
    { closed: 0, rows: rows(tail, length) },
  ];
}

/** The heading that opens the common lines below it: a checkbox, which needs no modules, in the shape of a disclosure. */
function gap(lines: number): Html {
  return html`<tbody class="gap">
    <tr>
      <td colspan="4">
        <label><input type="checkbox" />${count(lines)} unchanged lines</label>
      </td>
    </tr>
  </tbody>`;
}
