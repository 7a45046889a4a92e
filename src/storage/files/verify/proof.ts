/** Checks the logs of an organization against signed checkpoints. */
import { readNote } from "../../../proof/checkpoint-lines.ts";
import { StoredCheckpoints, type ProofEvidence } from "../../../proof/evidence.ts";
import { LOGS, type NamedLog } from "../../../proof/log-name.ts";
import { HASH_BYTES, writeLeafHash } from "../../../proof/merkle.ts";
import type { StoredLog } from "../../../proof/stored-log.ts";
import { TILE_WIDTH } from "../../../proof/tiles.ts";
import { ifExists, type FileOperations } from "../../file-operations.ts";
import type { Layout } from "../../layout.ts";
import { endOfLog, readLines } from "../../log-lines.ts";
import { logParts, type LogPart } from "../proof/log-sources.ts";
import { TreeFiles, type TreePosition } from "../proof/tree-files.ts";
import type { VerifyReport } from "./report.ts";

/** Checks both logs of one organization. */
export async function verifyProofs(
  files: FileOperations,
  layout: Layout,
  id: string,
  evidence: ProofEvidence,
  report: VerifyReport,
): Promise<void> {
  for (const log of LOGS) {
    const named = { organization: id, log };
    const tree = new TreeFiles(files, layout, named);
    const path = tree.checkpoints;
    const stored = new StoredCheckpoints(named, evidence, report, path);
    await report.reading(path, () => readCheckpoints(files, path, stored, report));
    const lines = await LogLines.open(files, layout, named, tree);
    await report.reading(lines.directory, async () => {
      const checked = await stored.check((first) => lines.from(first));
      report.logs.push(checked);
      await lines.checkBefore(checked.first, report);
    });
  }
}

async function readCheckpoints(
  files: FileOperations,
  path: string,
  stored: StoredCheckpoints,
  report: VerifyReport,
): Promise<void> {
  const found = await ifExists(files.stat(path));
  if (found === undefined) return;
  const end = await endOfLog(files, path, found.size);
  if (end < found.size)
    report.note(path, "its last line is cut off: its checkpoint was not compared");
  let number = 0;
  const take = (line: Buffer): void =>
    stored.add(`line ${++number}`, () => readNote(line.toString("utf8")));
  await readLines(files, path, take, { end });
  stored.end();
}

/** The lines of a log with its tree. */
class LogLines {
  readonly #files: FileOperations;
  readonly #parts: () => Promise<readonly LogPart[]>;
  readonly #tree: TreeFiles;
  /** By file, the event of its first line. It is not signed, so what it says is only a hint. */
  readonly #starts: TreePosition["starts"];
  readonly directory: string;

  private constructor(
    files: FileOperations,
    layout: Layout,
    named: NamedLog,
    tree: TreeFiles,
    starts: TreePosition["starts"],
  ) {
    const { audit, activityLog } = layout.organization(named.organization);
    this.#files = files;
    this.#parts = () => logParts(files, layout, named);
    this.#tree = tree;
    this.#starts = starts;
    this.directory = named.log === "audit" ? audit : activityLog;
  }

  static async open(
    files: FileOperations,
    layout: Layout,
    named: NamedLog,
    tree: TreeFiles,
  ): Promise<LogLines> {
    const position = await tree.readPosition().catch(() => undefined); // reported with the tree
    return new LogLines(files, layout, named, tree, position?.starts ?? {});
  }

  /** The log without the files before an event, which a killed retention or a clock set ahead can leave. */
  from(first: number): StoredLog {
    return {
      first,
      unit: "line",
      directory: this.directory,
      tileFile: (level) => this.#tree.hashes(level),
      readTile: (level, index) => this.#tree.readTile(level, index),
      readLines: async (take) => {
        for (const part of await this.#parts()) {
          if (this.#startOf(part, first) < first) continue;
          await this.#readPart(part, (line, number) => take(line, part.path, number));
        }
      },
    };
  }

  /** Checks that each line before the first event that must be there is the event that was signed. */
  async checkBefore(first: number, report: VerifyReport): Promise<void> {
    for (const part of await this.#parts()) {
      const start = this.#startOf(part, first);
      if (start >= first) continue;
      const leaves: Buffer[] = [];
      const numbers: number[] = [];
      await this.#readPart(part, (line, number) => {
        const leaf = Buffer.alloc(HASH_BYTES);
        writeLeafHash(line, leaf, 0);
        leaves.push(leaf);
        numbers.push(number);
      });
      let tile: Buffer | undefined;
      for (const [i, leaf] of leaves.entries()) {
        const event = start + i;
        const at = (event % TILE_WIDTH) * HASH_BYTES;
        if (i === 0 || at === 0)
          tile = await this.#tree.readTile(0, Math.floor(event / TILE_WIDTH));
        if (event < first && tile?.subarray(at, at + HASH_BYTES).equals(leaf) === true) continue;
        report.problem(part.path, `line ${numbers[i]}: is not the event that was signed`);
        break;
      }
    }
  }

  #startOf({ name }: LogPart, first: number): number {
    return this.#starts[name] ?? first;
  }

  async #readPart(
    { path, end }: LogPart,
    take: (line: Buffer, number: number) => void,
  ): Promise<void> {
    let number = 0;
    const takeOne = (line: Buffer): void => {
      number++;
      if (line[0] !== 0) take(line, number); // a hole never was a line
    };
    await readLines(this.#files, path, takeOne, { end });
  }
}
