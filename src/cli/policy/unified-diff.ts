import { finish } from "../../core/scheduling/work.ts";
import { diffLines } from "../../portal/diff.ts";

/** A text with its name in a diff. */
export interface NamedText {
  readonly name: string;
  readonly text: string;
}

/** The number of unchanged lines that are shown around a change. */
const CONTEXT = 3;

/** Compares two texts in the unified format, which `patch` takes; empty if they are the same. */
export function unifiedDiff(before: NamedText, after: NamedText): string {
  const [left, right] = [linesOf(before.text), linesOf(after.text)];
  const marked = finish(diffLines(left, right)).flatMap((run) => {
    const [mark, from, first] =
      run.kind === "added"
        ? (["+", right, run.right] as const)
        : ([run.kind === "removed" ? "-" : " ", left, run.left] as const);
    return from.slice(first, first + run.count).map((line) => mark + line);
  });
  const changes = marked.flatMap((line, i) => (line.startsWith(" ") ? [] : [i]));
  const hunks: string[] = [];
  for (let next = 0; next < changes.length;) {
    const first = Math.max(0, (changes[next] ?? 0) - CONTEXT);
    let last = changes[next] ?? 0;
    while (next < changes.length && (changes[next] ?? 0) <= last + 2 * CONTEXT + 1) {
      last = changes[next++] ?? 0;
    }
    hunks.push(hunk(marked, first, Math.min(marked.length, last + CONTEXT + 1)));
  }
  if (hunks.length === 0) return "";
  return `--- ${before.name}\n+++ ${after.name}\n${hunks.join("")}`;
}

function hunk(marked: readonly string[], first: number, end: number): string {
  const rangeOf = (other: string): string => {
    const isOwn = (line: string): boolean => !line.startsWith(other);
    const before = marked.slice(0, first).filter(isOwn).length;
    const count = marked.slice(first, end).filter(isOwn).length;
    return `${count === 0 ? before : before + 1},${count}`;
  };
  const lines = marked.slice(first, end).map((line) => `${line}\n`);
  return `@@ -${rangeOf("+")} +${rangeOf("-")} @@\n${lines.join("")}`;
}

/** The lines of a text. A last line without its end carries the mark for it, so that it differs. */
function linesOf(text: string): readonly string[] {
  const lines = text.split("\n");
  const last = lines.pop() ?? "";
  return last === "" ? lines : [...lines, `${last}\n\\ No newline at end of file`];
}
