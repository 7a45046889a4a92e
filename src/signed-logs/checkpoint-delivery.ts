/**
 * Sends signed checkpoints to another machine by HTTP, one at a time. Only the last checkpoint of each log waits, since it
 * vouches for the events of the earlier ones too. So the backlog has at most one checkpoint for each log, and a log that
 * grows fast does not hold up another.
 */
import { SECOND_MS, type Clock, type Stopwatch } from "../core/clock.ts";
import { describeError, type Log } from "../core/log.ts";
import { clearTimeout, setTimeout, systemStopwatch } from "../core/timers.ts";
import { countersigned } from "../proof/countersignatures.ts";
import { logOfOrigin, type NamedLog } from "../proof/log-name.ts";
import { postNote } from "./post-note.ts";
import { isWitness, Witness } from "./witness.ts";

/** The time limit for one answer. */
const ANSWER_MS = 10 * SECOND_MS;
/** The time limit for what waits at a stop. */
const CLOSE_MS = 3 * SECOND_MS;
const FIRST_PAUSE_MS = SECOND_MS;
/** The longest pause while the receiver cannot be reached. */
const MAX_PAUSE_MS = 60 * SECOND_MS;
/** The longest pause before a log is sent again that the receiver refused, while it takes others. */
const MAX_REFUSED_PAUSE_MS = 600 * SECOND_MS;
/** The age of a waiting checkpoint from which the service is degraded. */
const LATE_MS = 300 * SECOND_MS;

/** Runs work after some milliseconds, without keeping the process alive; the result cancels it. */
export type Later = (work: () => void, ms: number) => () => void;

const later: Later = (work, ms) => {
  const timer = setTimeout(work, ms).unref();
  return () => clearTimeout(timer);
};

/** The logs of an engine. */
export interface DeliveredLogs {
  /** Keeps a checkpoint, which was added before, with the signatures of the receiver. */
  keep(log: NamedLog, note: string): Promise<void>;
  /** The hashes that show that a log of the second size begins with the events of the first; `undefined` if it is shorter. */
  prove(log: NamedLog, from: number, to: number): Promise<readonly Buffer[] | undefined>;
}

export interface DeliveryParts {
  /** An http or https URL, which may contain credentials. */
  readonly url: string;
  readonly now: Clock;
  readonly log: Log;
  /** The first part of the names of all logs. */
  readonly host: string;
  readonly logs: DeliveredLogs;
  /** Tests replace both. */
  readonly later?: Later;
  readonly stopwatch?: Stopwatch;
}

/** The last checkpoint of a log, until it is delivered. */
interface WaitingNote {
  readonly note: string;
  /** The time since when some checkpoint of the log waits. */
  readonly since: number;
  /** How often the receiver has refused the log. */
  readonly refusals: number;
  /** By the stopwatch. */
  readonly notBefore: number;
}

/** The delivery of the checkpoints of all logs to one address. */
export class CheckpointDelivery {
  readonly #parts: DeliveryParts;
  readonly #witness: Witness | undefined;
  readonly #later: Later;
  readonly #stopwatch: Stopwatch;
  /** By the name of the log, in the order in which they are sent. One stays until it is delivered. */
  readonly #waiting = new Map<string, WaitingNote>();
  /** Ends the request that is under way. */
  #ending = new AbortController();
  /** The attempts in a row that reached no receiver, and the end of the pause after them. */
  #failures = 0;
  #notBefore = 0;
  #cancelTimer = (): void => {};
  #running = Promise.resolve();
  #isRunning = false;
  #isClosing = false;

  constructor(parts: DeliveryParts) {
    this.#parts = parts;
    const { url, host, logs } = parts;
    const prove = async (origin: string, from: number, to: number) => {
      if (from === 0) return [];
      const log = logOfOrigin(origin, host);
      return log && logs.prove(log, from, to);
    };
    this.#witness = isWitness(url) ? new Witness(url, prove) : undefined;
    this.#later = parts.later ?? later;
    this.#stopwatch = parts.stopwatch ?? systemStopwatch;
  }

  /** The seconds since the oldest checkpoint waits that is not delivered; 0 if all are. */
  get lagSeconds(): number {
    const now = this.#parts.now();
    let lagMs = 0;
    for (const { since } of this.#waiting.values()) lagMs = Math.max(lagMs, now - since);
    return lagMs / SECOND_MS;
  }

  /** Whether a checkpoint has waited for so long that the service is degraded. */
  get isLate(): boolean {
    return this.lagSeconds * SECOND_MS > LATE_MS;
  }

  /** Takes the newest checkpoint of a log. It replaces one of the same log that waits. */
  add(note: string): void {
    const name = note.slice(0, note.indexOf("\n"));
    const fresh = { since: this.#parts.now(), refusals: 0, notBefore: 0 };
    this.#waiting.set(name, { ...(this.#waiting.get(name) ?? fresh), note });
    this.#run();
  }

  /** Tries once more to send what waits, for some seconds at most, and ends. */
  async close(): Promise<void> {
    this.#isClosing = true;
    this.#notBefore = 0;
    for (const [name, one] of this.#waiting) this.#waiting.set(name, { ...one, notBefore: 0 });
    const cancel = this.#later(() => {
      this.#notBefore = Infinity;
      this.#ending.abort();
    }, CLOSE_MS);
    this.#run();
    await this.#running;
    cancel();
    const { size } = this.#waiting;
    if (size > 0) this.#parts.log.warn("checkpoints are not delivered at the stop", { logs: size });
  }

  #run(): void {
    if (this.#isRunning) return;
    this.#isRunning = true;
    this.#running = this.#sendDue();
  }

  async #sendDue(): Promise<void> {
    this.#cancelTimer();
    for (let due = this.#due(); due !== undefined; due = this.#due()) await this.#send(...due);
    this.#isRunning = false;
    if (!this.#isClosing) this.#plan();
  }

  #due(): readonly [name: string, waiting: WaitingNote] | undefined {
    const now = this.#stopwatch();
    if (now < this.#notBefore) return undefined;
    for (const entry of this.#waiting) if (entry[1].notBefore <= now) return entry;
    return undefined;
  }

  /** Sets the timer to the end of the first pause. */
  #plan(): void {
    if (this.#waiting.size === 0) return;
    let first = Infinity;
    for (const { notBefore } of this.#waiting.values()) first = Math.min(first, notBefore);
    const at = Math.max(first, this.#notBefore);
    this.#cancelTimer = this.#later(() => this.#run(), at - this.#stopwatch());
  }

  async #send(name: string, sent: WaitingNote): Promise<void> {
    const { now, log } = this.#parts;
    const sentAt = now();
    const answer = await this.#post(sent.note);
    const known = this.#waiting.get(name) ?? sent;
    this.#waiting.delete(name); // what stays goes to the end, behind the other logs
    if ("problem" in answer && !answer.isRefusal) {
      this.#waiting.set(name, known);
      this.#pause(answer.problem);
      return;
    }
    if (this.#failures > 0) log.info("CHECKPOINT_URL answers again");
    this.#failures = 0;
    if ("problem" in answer) {
      this.#waiting.set(name, this.#refused(name, known, answer.problem));
      return;
    }
    if (known.note !== sent.note) {
      this.#waiting.set(name, { note: known.note, since: sentAt, refusals: 0, notBefore: 0 });
    }
    await this.#keep(name, sent.note, answer.text);
  }

  async #post(note: string): Promise<PostedNote> {
    this.#ending = new AbortController();
    let isLate = false;
    const cancel = this.#later(() => {
      isLate = true;
      this.#ending.abort();
    }, ANSWER_MS);
    try {
      const { signal } = this.#ending;
      const { status, text, problem } = await (this.#witness
        ? this.#witness.post(note, signal)
        : postNote(this.#parts.url, note, signal));
      if (status >= 200 && status < 300) return { text };
      const isRefusal = status < 500 && status !== 408 && status !== 429;
      return { problem: problem ?? `it answered with status ${status}`, isRefusal };
    } catch (error) {
      // A message may quote the URL, which may contain a secret. A code does not.
      const { code } = error as NodeJS.ErrnoException;
      const problem = typeof code === "string" ? code : "the connection failed";
      const limit = `no answer in ${ANSWER_MS / SECOND_MS} seconds`;
      return { problem: isLate ? limit : problem, isRefusal: false };
    } finally {
      cancel();
    }
  }

  /** Leaves the receiver alone for a while. */
  #pause(reason: string): void {
    this.#failures++;
    if (this.#failures === 1) {
      this.#parts.log.error("checkpoints cannot be delivered to CHECKPOINT_URL", { reason });
    }
    const ms = pauseMs(this.#failures, MAX_PAUSE_MS);
    this.#notBefore = this.#isClosing ? Infinity : this.#stopwatch() + ms;
  }

  /** The same checkpoint after the receiver has refused it, with a pause of its own. */
  #refused(name: string, known: WaitingNote, reason: string): WaitingNote {
    const refusals = known.refusals + 1;
    const fields = { log: name, reason };
    if (refusals === 1) {
      this.#parts.log.error("CHECKPOINT_URL refuses the checkpoints of a log", fields);
    }
    const ms = pauseMs(refusals, MAX_REFUSED_PAUSE_MS);
    return {
      ...known,
      refusals,
      notBefore: this.#isClosing ? Infinity : this.#stopwatch() + ms,
    };
  }

  /** Keeps the signatures that the receiver answered. */
  async #keep(name: string, note: string, answer: string): Promise<void> {
    const signed = countersigned(note, name, answer);
    const log = logOfOrigin(name, this.#parts.host);
    if (signed === undefined || signed === note || log === undefined) return;
    try {
      await this.#parts.logs.keep(log, signed);
    } catch (error) {
      const fields = { log: name, error: describeError(error) };
      this.#parts.log.error("the signatures of CHECKPOINT_URL could not be kept", fields);
    }
  }
}

/** The result of an attempt: the text of the answer, or why the receiver did not take the note. */
type PostedNote =
  | { readonly text: string }
  | {
      readonly problem: string;
      /** The receiver answers, but does not take this log. */
      readonly isRefusal: boolean;
    };

function pauseMs(failures: number, most: number): number {
  return Math.min(most, FIRST_PAUSE_MS * 2 ** (failures - 1));
}
