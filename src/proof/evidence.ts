/** Checks a stored log by what a verifier brings: public keys, and checkpoints that were kept elsewhere. */
import { quantity } from "../core/quantity.ts";
import { firstOf, openCheckpoint, type Checkpoint } from "./checkpoint.ts";
import { UnknownSigner } from "./errors.ts";
import { checkLog } from "./log-check.ts";
import { isOriginOf, LOGS, type NamedLog } from "./log-name.ts";
import { verifierOf, type Verifier } from "./note.ts";
import type { StoredLog } from "./stored-log.ts";

/** Keys and checkpoints that come from outside of what is checked. */
export interface ProofEvidence {
  /** The public keys. Their names are of one log; the keys themselves sign for all. */
  readonly verifiers: readonly Verifier[];
  /** Checkpoints that were kept elsewhere, with the names of their files. */
  readonly kept: readonly (Checkpoint & { readonly file: string })[];
  /** The lines of those files that are cut off, and have no checkpoint. */
  readonly cut: readonly { readonly file: string; readonly line: number }[];
}

/** The extent of a log that was checked against checkpoints. */
export interface CheckedLog extends NamedLog {
  /** The index of the first event that is still there; retention removed those before. */
  readonly first: number;
  /** The number of events ever stored. */
  readonly events: number;
  /** The number of events that a signed checkpoint confirms, from the first on. */
  readonly covered: number;
}

/** Receives the findings about a place, such as a file or a table. */
export interface Findings {
  problem(place: string, problem: string): void;
  note(place: string, problem: string): void;
}

/**
 * Reports, at a place, the kept checkpoints of logs that none of the organizations has, and mentions the lines that are
 * cut off.
 */
export function reportKept(
  { kept, cut }: ProofEvidence,
  organizations: readonly string[],
  report: Findings,
  place: string,
): void {
  const logs = organizations.flatMap((organization) => LOGS.map((log) => ({ organization, log })));
  for (const { file, origin } of kept) {
    if (logs.some((log) => isOriginOf(origin, log))) continue;
    report.problem(place, `the log ${origin}, of ${file}, is missing`);
  }
  for (const { file, line } of cut) {
    report.note(place, `line ${line} of ${file} is cut off: its checkpoint was not compared`);
  }
}

/** The checkpoints that are stored with a log, and that a known key signed. */
export class StoredCheckpoints {
  readonly #log: NamedLog;
  readonly #evidence: ProofEvidence;
  readonly #report: Findings;
  readonly #place: string;
  readonly #found: Checkpoint[] = [];
  readonly #others: string[] = [];

  /** @param place where they are stored */
  constructor(log: NamedLog, evidence: ProofEvidence, report: Findings, place: string) {
    this.#log = log;
    this.#evidence = evidence;
    this.#report = report;
    this.#place = place;
  }

  /** Takes a stored checkpoint, such as that of `line 5`. */
  add(where: string, read: () => string): void {
    try {
      const note = read();
      const origin = note.slice(0, note.indexOf("\n"));
      if (!isOriginOf(origin, this.#log)) throw new Error(`is of the log ${origin}`);
      const verifiers = this.#evidence.verifiers.map(({ key }) => verifierOf(origin, key));
      this.#found.push(openCheckpoint(note, verifiers));
    } catch (error) {
      const said = `${where}: ${(error as Error).message}`;
      if (error instanceof UnknownSigner) this.#others.push(said);
      else this.#report.problem(this.#place, said);
    }
  }

  /** Checkpoints of another key, as after a restore, are only counted, unless there are no others. */
  end(): void {
    const [first] = this.#others;
    if (first === undefined) return;
    if (this.#found.length === 0) this.#report.problem(this.#place, first);
    else {
      const count = `${this.#others.length} checkpoints of another key`;
      this.#report.note(this.#place, `${count} were not checked`);
    }
  }

  /** Checks the log against these checkpoints, and the kept ones. */
  async check(open: (first: number) => StoredLog | Promise<StoredLog>): Promise<CheckedLog> {
    const kept = this.#evidence.kept.filter(({ origin }) => isOriginOf(origin, this.#log));
    const log = await open(firstByNewest([...this.#found, ...kept]));
    const { faults, size, covered } = await checkLog(log, [
      ...this.#found.map((one) => ({ ...one, name: `the checkpoint of ${one.size} events` })),
      ...kept.map((one) => ({ ...one, name: `the checkpoint in ${one.file}` })),
    ]);
    for (const { file, problem } of faults) this.#report.problem(file, problem);
    // Otherwise it would be enough to delete the checkpoints. Those of another key are reported by `end`.
    if (covered === 0 && size > 0 && faults.length === 0 && this.#others.length === 0) {
      this.#report.problem(this.#place, unconfirmed(this.#log, size));
    }
    if (size === 0 && kept.length === 0 && faults.length === 0) {
      this.#report.note(this.#place, empty(this.#log));
    }
    return { ...this.#log, first: log.first, events: size, covered };
  }
}

function empty({ log }: NamedLog): string {
  const what = `the ${log} log is empty, which proves nothing without a checkpoint that was kept elsewhere`;
  return `${what}: its events, hashes and checkpoints may have been removed together; see --checkpoint`;
}

function unconfirmed({ log }: NamedLog, size: number): string {
  const what = `no checkpoint that the key signed confirms the ${quantity(size, "event")} of the ${log} log`;
  return `${what}: the checkpoints were removed, or no server has signed this log yet; CHECKPOINT_SECONDS switches that on, and verify without --key checks the rest`;
}

/**
 * The first event that must be there: the newest checkpoint says it. Of several over the same events the last one is
 * the one that demands the fewest, since events are removed and never come back.
 */
function firstByNewest(checkpoints: readonly Checkpoint[]): number {
  const [newest] = checkpoints.toSorted((a, b) => b.size - a.size || firstOf(b) - firstOf(a));
  return newest === undefined ? 0 : firstOf(newest);
}
