/**
 * Writes a data directory with a history of audit events, as the service itself would have written it.
 *
 * Usage: npm run bench:generate -- [--events 1000000] [--seed 1] DIRECTORY
 */
import { closeSync, fsyncSync, mkdirSync, openSync, readdirSync, writeSync } from "node:fs";
import { join } from "node:path";
import { systemFiles } from "../src/storage/file-operations.ts";
import { Layout } from "../src/storage/layout.ts";
import { arrivals, type Arrival, type GeneratorOptions } from "./generator.ts";
import { storedLine } from "./stored-line.ts";
import { Usage } from "./usage.ts";

const SEGMENT_BYTES = 64 << 20;
const BLOCK_BYTES = 1 << 20;
const MAX_EVENTS = 1e9;

/** The result of writing a history. */
export interface Written {
  readonly events: number;
  readonly bytes: number;
  readonly segments: number;
}

/**
 * Writes the audit segments of the default organization; the service makes the rest of a data
 * directory when it starts.
 *
 * @param observe called with every event that is written
 * @throws Error if there are segments already
 */
export function writeHistory(
  directory: string,
  options: GeneratorOptions,
  observe?: (arrival: Arrival) => void,
): Written {
  const audit = new Layout(directory).organization("default").audit;
  mkdirSync(audit, { recursive: true, mode: 0o700 });
  if (readdirSync(audit).length > 0) throw new Error(`${audit} holds events already`);
  const segments = new SegmentWriter(audit);
  let events = 0;
  for (const arrival of arrivals(options)) {
    segments.write(`${storedLine(arrival, events++)}\n`);
    observe?.(arrival);
  }
  return { events, ...segments.close() };
}

/** Writes lines into numbered files, and begins a new file when the last one is large enough. */
class SegmentWriter {
  readonly #directory: string;
  readonly #block = Buffer.allocUnsafe(BLOCK_BYTES);
  #used = 0;
  #descriptor: number | undefined;
  #sequence = 0;
  #size = 0;
  #bytes = 0;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Appends one line, which ends in a newline and is shorter than a block. */
  write(line: string): void {
    if (this.#used + line.length * 3 > BLOCK_BYTES) this.#flush();
    const length = this.#block.write(line, this.#used);
    this.#used += length;
    this.#size += length;
    this.#bytes += length;
    if (this.#size >= SEGMENT_BYTES) this.#seal();
  }

  close(): { readonly bytes: number; readonly segments: number } {
    this.#seal();
    return { bytes: this.#bytes, segments: this.#sequence };
  }

  #flush(): void {
    if (this.#used === 0) return;
    this.#descriptor ??= this.#open();
    let written = 0;
    while (written < this.#used) {
      written += writeSync(this.#descriptor, this.#block, written, this.#used - written);
    }
    this.#used = 0;
  }

  #open(): number {
    const name = `${String(++this.#sequence).padStart(12, "0")}.jsonl`;
    return openSync(join(this.#directory, name), "wx", 0o600);
  }

  #seal(): void {
    this.#flush();
    if (this.#descriptor === undefined) return;
    fsyncSync(this.#descriptor);
    closeSync(this.#descriptor);
    this.#descriptor = undefined;
    this.#size = 0;
  }
}

if (import.meta.filename === process.argv[1]) {
  const usage = new Usage(
    "Usage: npm run bench:generate -- [--events 1000000] [--seed 1] DIRECTORY",
  );
  const options = {
    events: { type: "string", default: "1000000" },
    seed: { type: "string", default: "1" },
  } as const;
  const { values, positionals } = usage.read(options, { most: 1 });
  const directory = positionals[0] ?? usage.fail("DIRECTORY is missing");
  const events = usage.integer("events", values.events, 1, MAX_EVENTS);
  const seed = usage.integer("seed", values.seed, 0, 2 ** 32 - 1);
  const start = performance.now();
  const written = await usage.attempt(async () => {
    await systemFiles.makeDirectory(directory);
    return writeHistory(directory, { events, seed });
  });
  const seconds = (performance.now() - start) / 1000;
  console.log(
    `${written.events.toLocaleString("en")} events, ${(written.bytes / 1e6).toFixed(0)} MB in ` +
      `${written.segments} segments, ${seconds.toFixed(1)} s ` +
      `(${Math.round(written.events / seconds).toLocaleString("en")} events/s)`,
  );
}
