/** The machine, the cost of its disk, and the usage of processes. */
import {
  closeSync,
  fdatasyncSync,
  fsyncSync,
  openSync,
  readFileSync,
  rmSync,
  writeSync,
} from "node:fs";
import { cpus, release, totalmem } from "node:os";
import { join } from "node:path";
import { median } from "./statistics.ts";

const TICKS_PER_SECOND = 100; // the value that Linux reports to user space on every common architecture

/** The processor, memory, system and Node version in one line. */
export function describeMachine(): string {
  const model = cpus()[0]?.model.trim() ?? "unknown processor";
  const gigabytes = (totalmem() / 2 ** 30).toFixed(0);
  return `${model}, ${cpus().length} cores, ${gigabytes} GiB, Linux ${release()}, Node ${process.version}`;
}

/** The median time of a 512 byte append with its fdatasync, in microseconds. */
export function flushMicroseconds(directory: string): number {
  const file = join(directory, "flush");
  const descriptor = openSync(file, "w");
  const bytes = Buffer.alloc(512, "x");
  const times = Array.from({ length: 200 }, () => {
    const start = performance.now();
    writeSync(descriptor, bytes);
    fdatasyncSync(descriptor);
    return (performance.now() - start) * 1_000;
  });
  closeSync(descriptor);
  rmSync(file);
  return median(times);
}

/**
 * Writes and deletes a file. The first use of memory for the page cache is up to ten times slower
 * than any later one, and the first contestant would pay for it.
 */
export function touchPageCache(directory: string, bytes: number): void {
  const file = join(directory, "touch");
  const descriptor = openSync(file, "w");
  const block = Buffer.alloc(1 << 20, "x");
  for (let written = 0; written < bytes; written += block.length) writeSync(descriptor, block);
  fsyncSync(descriptor);
  closeSync(descriptor);
  rmSync(file);
}

/** The usage of a process so far. */
export interface Usage {
  /** Processor time of all its threads, in milliseconds; the resolution is 10. */
  readonly cpuMs: number;
  readonly residentBytes: number;
}

/** Reads the usage of a process of this machine; it must be running. */
export function usageOf(pid: number): Usage {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  // The command's name may contain any characters, but ends at the last bracket.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const ticks = Number(fields[11]) + Number(fields[12]);
  const status = readFileSync(`/proc/${pid}/status`, "latin1");
  const kilobytes = Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0);
  return { cpuMs: (ticks * 1_000) / TICKS_PER_SECOND, residentBytes: kilobytes * 1_024 };
}

/** Processor time used by all processes of the machine so far, including stolen time, in milliseconds. */
export function machineBusyMs(): number {
  const [line = ""] = readFileSync("/proc/stat", "latin1").split("\n", 1);
  const [, user, nice, system, , , irq, softIrq, stolen] = line.split(/\s+/).map(Number);
  const ticks = [user, nice, system, irq, softIrq, stolen].reduce<number>(
    (sum, value = 0) => sum + value,
    0,
  );
  return (ticks * 1_000) / TICKS_PER_SECOND;
}

/** The number of processors. */
export const PROCESSORS = cpus().length;
