/**
 * Lines of logs that cannot be read back. They are copied once into a file beside the log. The first line of
 * that file is a summary; the log itself is not changed. A log with an index is not read at every start: its
 * damage is known from the summary, and counts until the file is removed.
 */
import { isUtf8 } from "node:buffer";
import { basename, dirname } from "node:path";
import { jsonOrUndefined } from "../core/json/json.ts";
import { describeError, type Log } from "../core/log.ts";
import { isObject } from "../core/validate.ts";
import type { FileOperations } from "./file-operations.ts";
import { readFileIfAny, replaceFile, syncDirectory } from "./snapshot.ts";

/** The suffix, after the name of the log, of a file with damaged lines. */
export const DAMAGED_SUFFIX = ".damaged";

/** The most bytes of one log that are copied; of further lines only the offset is recorded. */
const MAX_COPIED_BYTES = 8 << 20;
const MAX_ENTRIES = 10_000;

/** Lines of one log that could not be read back. */
export interface DamagedLines {
  readonly file: string;
  readonly lines: number;
  readonly bytes: number;
  /** The offset of the first of them, in bytes. */
  readonly offset: number;
}

/** The path of the file with a log's damaged lines, beside the log. */
export function damagedPath(log: string): string {
  return `${log}${DAMAGED_SUFFIX}`;
}

/** Collects the damaged lines of one log while all of it is read. */
export class DamageFound {
  readonly file: string;
  readonly #entries: object[] = [];
  #lines = 0;
  #bytes = 0;
  #first = 0;
  #end = -1;
  #copied = 0;
  #zeros: { offset: number; zeros: number } | undefined;

  constructor(file: string) {
    this.file = file;
  }

  /** Takes a damaged line from the reader of lines. */
  add(line: Buffer, offset: number): void {
    if (this.#lines === 0) this.#first = offset;
    const isHole = line[0] === 0;
    const continues = isHole && this.#zeros !== undefined && this.#end === offset;
    this.#bytes += line.length;
    this.#end = offset + line.length;
    if (continues && this.#zeros) {
      this.#zeros.zeros += line.length; // a hole comes in pieces
      return;
    }
    this.#lines++;
    this.#zeros = undefined;
    if (this.#entries.length >= MAX_ENTRIES) return;
    if (isHole) this.#entries.push((this.#zeros = { offset, zeros: line.length }));
    else this.#entries.push(this.#copy(line, offset));
  }

  /** The summary; `undefined` if no line is damaged. */
  get sum(): DamagedLines | undefined {
    const { file } = this;
    if (this.#lines === 0) return undefined;
    return { file, lines: this.#lines, bytes: this.#bytes, offset: this.#first };
  }

  /** The text of the file beside the log. */
  text(): string {
    const sum = { ...this.sum, file: basename(this.file) };
    return [sum, ...this.#entries].map((entry) => `${JSON.stringify(entry)}\n`).join("");
  }

  #copy(line: Buffer, offset: number): object {
    this.#copied += line.length;
    if (this.#copied > MAX_COPIED_BYTES) return { offset, bytes: line.length };
    if (isUtf8(line)) return { offset, text: line.toString("utf8") };
    return { offset, base64: line.toString("base64") };
  }
}

/** The known damage in the logs of a data directory. */
export class DamageRegister {
  readonly #files: FileOperations;
  readonly #log: Log;
  readonly #known = new Map<string, DamagedLines>();

  constructor(files: FileOperations, log: Log) {
    this.#files = files;
    this.#log = log;
  }

  /** The number of damaged lines in all logs. */
  get lines(): number {
    return [...this.#known.values()].reduce((sum, { lines }) => sum + lines, 0);
  }

  /**
   * Registers the damage of a log after all of it was read. New damage is copied aside and logged. If there
   * is none, the file of an earlier copy is removed.
   */
  async enter(found: DamageFound): Promise<void> {
    const { file, sum } = found;
    const before = this.#known.get(file);
    if (sum) this.#known.set(file, sum);
    else this.#known.delete(file);
    const isNews = before?.lines !== sum?.lines || before?.bytes !== sum?.bytes;
    try {
      if (!sum) await this.#forget(file);
      else if (await this.#setAside(found)) {
        this.#log.error("set aside damaged lines of a log", { ...sum, aside: damagedPath(file) });
      } else if (isNews) {
        this.#log.warn("a log holds damaged lines, which were set aside before", { ...sum });
      }
    } catch (error) {
      // Even on a full disk, the readable lines are served.
      const fields = { ...sum, file, error: describeError(error) };
      this.#log.error("damaged lines of a log could not be set aside", fields);
    }
  }

  /** Registers the damage of a log that is not read now, from the file beside it. */
  async recall(file: string): Promise<void> {
    const bytes = await readFileIfAny(this.#files, damagedPath(file));
    if (bytes === undefined) return;
    const sum = parseSum(bytes, file);
    const isNews = this.#known.get(file)?.lines !== sum.lines;
    this.#known.set(file, sum);
    if (isNews) {
      this.#log.warn("a log holds damaged lines, which were set aside before", { ...sum });
    }
  }

  /** Forgets a removed log, and removes the copy of its damaged lines. */
  async remove(file: string): Promise<void> {
    this.#known.delete(file);
    await this.#files.remove(damagedPath(file));
  }

  /** Writes the file beside a log; `false` if its content would be the same. */
  async #setAside(found: DamageFound): Promise<boolean> {
    const bytes = Buffer.from(found.text(), "utf8");
    const path = damagedPath(found.file);
    if ((await readFileIfAny(this.#files, path))?.equals(bytes)) return false;
    await replaceFile(this.#files, path, bytes);
    return true;
  }

  async #forget(file: string): Promise<void> {
    const path = damagedPath(file);
    if ((await readFileIfAny(this.#files, path)) === undefined) return;
    await this.#files.remove(path);
    await syncDirectory(this.#files, dirname(path));
    this.#log.info("a log that had damaged lines has no damage any more", { file });
  }
}

/** Parses the first line of such a file. A file that was emptied or edited counts as one damaged line. */
function parseSum(bytes: Buffer, file: string): DamagedLines {
  const end = bytes.indexOf("\n");
  const value = jsonOrUndefined(bytes.toString("utf8", 0, end === -1 ? bytes.length : end));
  const number = (name: string, least: number): number => {
    const given = isObject(value) ? value[name] : undefined;
    return Number.isSafeInteger(given) && (given as number) > least ? (given as number) : least;
  };
  return {
    file,
    lines: number("lines", 1),
    bytes: number("bytes", 0),
    offset: number("offset", 0),
  };
}
