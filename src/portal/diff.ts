/**
 * The difference of two lists of lines, by the greedy algorithm of Myers ("An O(ND) Difference
 * Algorithm and Its Variations", 1986): the fewest lines removed and added. Its memory grows with the
 * square of that number, so the search ends at a limit. Beyond it the lines between the common beginning
 * and the common end count as replaced.
 */

import type { Work } from "../core/scheduling/work.ts";

/** A run of lines; `left` and `right` are the indexes of its first line in both texts. */
export interface DiffRun {
  readonly kind: "same" | "removed" | "added";
  readonly left: number;
  readonly right: number;
  readonly count: number;
}

const MOST_EDITS = 1_500; // 9 MB of trace

/** Computes the difference of two lists of lines; the runs cover both lists in order. */
export function* diffLines(
  left: readonly string[],
  right: readonly string[],
  mostEdits = MOST_EDITS,
): Work<readonly DiffRun[]> {
  const shorter = Math.min(left.length, right.length);
  let head = 0;
  while (head < shorter && left[head] === right[head]) head++;
  let tail = 0;
  while (tail < shorter - head && left[left.length - 1 - tail] === right[right.length - 1 - tail]) {
    tail++;
  }
  const runs = new Runs();
  runs.add("same", head);
  const [a, b] = [left.slice(head, left.length - tail), right.slice(head, right.length - tail)];
  const steps = yield* stepsBetween(a, b, mostEdits);
  if (steps) for (const kind of steps) runs.add(kind, 1);
  else {
    runs.add("removed", a.length);
    runs.add("added", b.length);
  }
  runs.add("same", tail);
  return runs.list;
}

/** Joins steps of one kind to runs. */
class Runs {
  readonly list: DiffRun[] = [];
  #left = 0;
  #right = 0;

  add(kind: DiffRun["kind"], count: number): void {
    if (count === 0) return;
    const last = this.list.at(-1);
    if (last?.kind === kind) {
      this.list[this.list.length - 1] = { ...last, count: last.count + count };
    } else this.list.push({ kind, left: this.#left, right: this.#right, count });
    if (kind !== "added") this.#left += count;
    if (kind !== "removed") this.#right += count;
  }
}

/** The shortest edit script, one step for each line; `undefined` when it exceeds the limit. */
function* stepsBetween(
  a: readonly string[],
  b: readonly string[],
  mostEdits: number,
): Work<readonly DiffRun["kind"][] | undefined> {
  const most = Math.min(a.length + b.length, mostEdits);
  const offset = most + 1;
  const reach = new Int32Array(2 * most + 3); // for each diagonal, the furthest line of `a`
  const trace: Int32Array[] = [];
  for (let edits = 0; edits <= most; edits++) {
    for (let k = -edits; k <= edits; k += 2) {
      const [below, above] = [reach[offset + k - 1] ?? 0, reach[offset + k + 1] ?? 0];
      let x = k === -edits || (k !== edits && below < above) ? above : below + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x++;
      reach[offset + k] = x;
      if (x >= a.length && x - k >= b.length) return wayBack(trace, a.length, b.length);
    }
    trace.push(reach.slice(offset - edits, offset + edits + 1));
    yield;
  }
  return undefined;
}

/** Walks the trace of furthest points back to the beginning. */
function wayBack(
  trace: readonly Int32Array[],
  leftEnd: number,
  rightEnd: number,
): readonly DiffRun["kind"][] {
  const steps: DiffRun["kind"][] = [];
  let [x, y] = [leftEnd, rightEnd];
  for (let edits = trace.length; edits > 0; edits--) {
    const reach = trace[edits - 1];
    const at = (k: number): number => reach?.[k + edits - 1] ?? -1;
    const k = x - y;
    const isAdded = k === -edits || (k !== edits && at(k - 1) < at(k + 1));
    const fromX = at(isAdded ? k + 1 : k - 1);
    const fromY = fromX - (isAdded ? k + 1 : k - 1);
    const [edgeX, edgeY] = isAdded ? [fromX, fromY + 1] : [fromX + 1, fromY];
    for (; x > edgeX && y > edgeY; x--, y--) steps.push("same");
    steps.push(isAdded ? "added" : "removed");
    [x, y] = [fromX, fromY];
  }
  for (; x > 0 && y > 0; x--, y--) steps.push("same");
  return orderly(steps.reverse());
}

/** Orders the steps between two common lines: removals first, then additions. */
function orderly(steps: readonly DiffRun["kind"][]): readonly DiffRun["kind"][] {
  const ordered: DiffRun["kind"][] = [];
  let added = 0;
  for (const step of [...steps, "same" as const]) {
    if (step === "added") added++;
    else {
      if (step === "same") while (added-- > 0) ordered.push("added");
      if (step === "same") added = 0;
      ordered.push(step);
    }
  }
  ordered.pop();
  return ordered;
}

/** The numbers of removed and added lines. */
export function diffCounts(runs: readonly DiffRun[]): {
  readonly removed: number;
  readonly added: number;
} {
  const sum = (kind: DiffRun["kind"]): number =>
    runs.reduce((total, run) => (run.kind === kind ? total + run.count : total), 0);
  return { removed: sum("removed"), added: sum("added") };
}

/** The lines of a text; a final line end does not begin another line. */
export function linesOf(text: string): readonly string[] {
  const lines = text.split(/\r\n|\n/);
  if (lines.at(-1) === "") lines.pop();
  return lines;
}
