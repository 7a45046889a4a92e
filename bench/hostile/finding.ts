/** The result of one measurement, and its target. */
import { readFileSync, writeFileSync } from "node:fs";
import { usageOf } from "../machine.ts";
import { quantile } from "../statistics.ts";

const RESIDENT_TARGET = 400;

/** One line of the table. */
export interface Finding {
  readonly what: string;
  /** The value as shown, with its unit. */
  readonly measured: string;
  /** The value that is compared with the target. */
  readonly value: number;
  /** The value must stay below this; absent for a line that is only for comparison. */
  readonly target?: number;
  readonly unit: "ms" | "MiB";
}

/** Makes a line of some latencies; the given quantile is compared with the target. */
export function latencies(what: string, ms: readonly number[], share: number, target?: number) {
  const shown = [0.5, share, 1].map((of) => quantile(ms, of).toFixed(1)).join(" / ");
  const finding: Finding = {
    what: `${what}: p50 / p${share * 100} / greatest of ${ms.length}`,
    measured: `${shown} ms`,
    value: quantile(ms, share),
    unit: "ms",
    ...(target !== undefined && { target }),
  };
  return finding;
}

/** Watches the resident memory of a process: its peak since this was called, minus its size at that time. */
export function watchMemory(pid: number): () => number {
  const before = usageOf(pid).residentBytes;
  writeFileSync(`/proc/${pid}/clear_refs`, "5"); // resets the peak (proc(5))
  return () => {
    const status = readFileSync(`/proc/${pid}/status`, "latin1");
    return Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1]) * 1_024 - before;
  };
}

/** Makes a line of the peak memory of a process since its start. */
export function resident(what: string, pid: number): Finding {
  const status = readFileSync(`/proc/${pid}/status`, "latin1");
  const bytes = Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1]) * 1_024;
  return growth(`${what}: resident memory`, bytes, RESIDENT_TARGET);
}

/** Makes a line of the growth of memory. */
export function growth(what: string, bytes: number, target?: number): Finding {
  const value = bytes / 2 ** 20;
  const measured = `${value.toFixed(0)} MiB`;
  return { what, measured, value, unit: "MiB", ...(target !== undefined && { target }) };
}

/** Ends the run: after a wrong answer no figure counts. */
export class WrongAnswer extends Error {}

/**
 * @throws WrongAnswer unless every status is one of the right ones
 */
export function requireStatuses(
  what: string,
  given: readonly number[],
  right: readonly number[],
): void {
  const wrong = given.filter((status) => !right.includes(status));
  if (wrong.length > 0) {
    throw new WrongAnswer(`${what}: ${wrong.length} of ${given.length} answers were ${wrong[0]}`);
  }
}

/** The number of each status, such as `3 × 202, 1 × cut`; a status of 0 is a cut. */
export function countsOf(statuses: readonly number[]): string {
  return [...new Set(statuses)]
    .sort()
    .map((status) => `${statuses.filter((one) => one === status).length} × ${status || "cut"}`)
    .join(", ");
}
