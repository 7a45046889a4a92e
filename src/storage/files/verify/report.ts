import { describeDiskFault } from "../../disk-fault.ts";

/** Something to be said of a file. */
export interface Finding {
  /** From the root of the data directory. */
  readonly file: string;
  readonly problem: string;
}

/** Of one file no more than this is told. */
const MAX_A_FILE = 20;

/** What a look through a data directory has found. */
export class VerifyReport {
  /** What is wrong. */
  readonly problems: Finding[] = [];
  /** What is not wrong, but worth knowing: what a crash leaves, and the next start clears away. */
  readonly notes: Finding[] = [];
  organizations = 0;
  files = 0;
  events = 0;
  readonly #root: string;
  readonly #told = new Map<string, number>();

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

  note(path: string, problem: string): void {
    this.notes.push({ file: this.#relative(path), problem });
  }

  /** Takes what reading a file has thrown as a problem of that file. */
  async reading<T>(path: string, read: () => Promise<T>): Promise<T | undefined> {
    try {
      return await read();
    } catch (error) {
      const said = error instanceof Error ? error.message : String(error);
      const message = describeDiskFault(error, path)?.replace(`"${path}" `, "") ?? said;
      // A check only reports the fault; how to start without the file is said at start.
      const fault = /is damaged \((.*)\): /s.exec(message)?.[1] ?? message;
      this.problem(path, fault.replaceAll(`${this.#root}/`, ""));
      return undefined;
    }
  }

  #relative(path: string): string {
    return path.startsWith(`${this.#root}/`) ? path.slice(this.#root.length + 1) : path;
  }
}
