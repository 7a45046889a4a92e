import type { CheckedLog, Findings } from "../../../proof/evidence.ts";
import { describeDiskFault } from "../../disk-fault.ts";
import { SYMBOLIC_LINK } from "../../file-operations.ts";

/** A finding about a file. */
export interface Finding {
  /** The path from the root of the data directory. */
  readonly file: string;
  readonly problem: string;
}

/** The findings about logs that were checked against checkpoints. */
export type ProofFindings = Pick<VerifyReport, "problems" | "notes" | "logs">;

/** The most findings of one file. */
const MAX_A_FILE = 20;

/** The findings of a check of a data directory. */
export class VerifyReport implements Findings {
  /** Faults in the files. */
  readonly problems: Finding[] = [];
  /** Leftovers of a crash, which the next start removes, and other facts that are not faults. */
  readonly notes: Finding[] = [];
  /** The logs that were checked against checkpoints. */
  readonly logs: CheckedLog[] = [];
  organizations = 0;
  files = 0;
  /** The length of all files. */
  bytes = 0;
  events = 0;
  readonly #root: string;
  readonly #told = new Map<string, number>();
  /** The paths that are not read. */
  readonly #unread = new Set<string>();

  constructor(root: string) {
    this.#root = root;
  }

  problem(path: string, problem: string): void {
    const told = (this.#told.get(path) ?? 0) + 1;
    this.#told.set(path, told);
    if (told <= MAX_A_FILE) this.problems.push({ file: this.#relative(path), problem });
    if (told === MAX_A_FILE + 1) {
      this.problems.push({ file: this.#relative(path), problem: "and more of the like" });
    }
  }

  /** Takes the findings of another part of the check. */
  add({ problems, notes, logs }: ProofFindings): void {
    this.problems.push(...problems);
    this.notes.push(...notes);
    this.logs.push(...logs);
  }

  /** Reports an entry that is neither a file nor a directory. `reading` then skips it. */
  odd(path: string, kind: string): void {
    this.#unread.add(path);
    this.problem(path, `is ${kind}, and is not ${kind === SYMBOLIC_LINK ? "followed" : "read"}`);
  }

  note(path: string, problem: string): void {
    this.notes.push({ file: this.#relative(path), problem });
  }

  /** Reads a file that was not reported by `odd`, and reports an error as a problem of that file. */
  async reading<T>(path: string, read: () => Promise<T>): Promise<T | undefined> {
    if (this.#unread.has(path)) return undefined;
    try {
      return await read();
    } catch (error) {
      const said = error instanceof Error ? error.message : String(error);
      const message = describeDiskFault(error, path)?.replace(`"${path}" `, "") ?? said;
      // Only the fault is reported here; the way to start without the file belongs to the error at start.
      const fault = /is damaged \((.*)\): /s.exec(message)?.[1] ?? message;
      this.problem(path, fault.replaceAll(`${this.#root}/`, ""));
      return undefined;
    }
  }

  #relative(path: string): string {
    return path.startsWith(`${this.#root}/`) ? path.slice(this.#root.length + 1) : path;
  }
}
