import type { Work } from "../../core/scheduling/work.ts";
import { diffLines, type DiffRun } from "../diff.ts";

/** A change of a text: the lines that replace lines of it. */
interface Change {
  /** The first replaced line and the first line behind them; equal for a mere insertion. */
  readonly start: number;
  readonly end: number;
  readonly lines: readonly string[];
}

/**
 * Merges two texts that were made from one, line by line.
 *
 * @returns `undefined` if both change the same lines, or lines beside one another, in different ways
 */
export function* mergeTexts(base: string, mine: string, theirs: string): Work<string | undefined> {
  const [lines, ownLines, otherLines] = [base.split("\n"), mine.split("\n"), theirs.split("\n")];
  const own = changesOf(yield* diffLines(lines, ownLines), ownLines);
  const other = changesOf(yield* diffLines(lines, otherLines), otherLines);
  const changes = [...own, ...other].sort((a, b) => a.start - b.start);
  const merged: string[] = [];
  let at = 0;
  for (const [i, { start, end, lines: added }] of changes.entries()) {
    const before = changes[i - 1];
    const isSame = start === before?.start && end === before.end;
    if (isSame && added.join("\n") === before.lines.join("\n")) continue;
    if (before && start <= before.end) return undefined;
    merged.push(...lines.slice(at, start), ...added);
    at = end;
  }
  return [...merged, ...lines.slice(at)].join("\n");
}

/** The changes of a text, in order: neighbouring removed and added lines are one. */
function changesOf(runs: readonly DiffRun[], lines: readonly string[]): readonly Change[] {
  const changes: Change[] = [];
  for (const [i, { kind, left, right, count }] of runs.entries()) {
    if (kind === "same") continue;
    const added = kind === "added" ? lines.slice(right, right + count) : [];
    const end = kind === "removed" ? left + count : left;
    const isContinued = i > 0 && runs[i - 1]?.kind !== "same";
    const before = isContinued ? changes.pop() : undefined;
    changes.push({
      start: before?.start ?? left,
      end,
      lines: [...(before?.lines ?? []), ...added],
    });
  }
  return changes;
}
