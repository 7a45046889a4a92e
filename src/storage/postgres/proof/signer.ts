import { SECOND_MS, type Clock } from "../../../core/clock.ts";
import type { IdSource } from "../../../core/ids.ts";
import { describeError, type Log } from "../../../core/log.ts";
import { clearInterval, setInterval, systemStopwatch } from "../../../core/timers.ts";
import type { SigningFigures } from "../../../engine.ts";
import { originOf, type NamedLog } from "../../../proof/log-name.ts";
import { signerOf, typedKey, type Signer } from "../../../proof/note.ts";
import { Contradiction, SignedTree } from "../../../proof/signed-tree.ts";
import { contradictionEntry } from "../../../signed-logs/contradiction-entry.ts";
import { writeCopies } from "../../../signed-logs/kept-copies.ts";
import { PacedWork, waitMs } from "../../../signed-logs/paced-work.ts";
import type { SigningParts } from "../../../signed-logs/signing-parts.ts";
import { insertEntries } from "../activity.ts";
import { numberFrom, type Database } from "../database.ts";
import { readValue, firstValue, writeValue } from "../deployment.ts";
import { withLease } from "../leases.ts";
import { followRows, keepNote, type OpenTree, type SigningReason } from "./follow-rows.ts";
import { dueLogs } from "./log-rows.ts";

/** The time after which the round of a server that died is taken over. */
const LEASE_MS = 60_000;
const EXTEND_AFTER_MS = 10_000;
/** A round counts for this much less than the interval, so that the timer of the same server finds it over. */
const EARLY_MS = 500;
/** The time for which a stop signs what was stored since the last round. */
const STOP_MS = 5_000;
/** The name of a value of the deployment: everything that was stored before this moment is signed. */
const SIGNED_UP_TO = "signed_up_to";

export interface LogSignerParts extends SigningParts {
  readonly database: Database;
  readonly now: Clock;
  readonly ids: IdSource;
  readonly log: Log;
}

/**
 * Signs the logs of all organizations, from the stored rows. At intervals one of the servers signs every log that
 * has changed; a request for a proof has one log signed. The row of a tree in `log_trees` is the lock of those who
 * work on it, and each step is a transaction: it adds the leaves of some rows, or signs a checkpoint, or does nothing.
 */
export class LogSigner {
  readonly #parts: LogSignerParts;
  /** The signing that requests ask for, by the name of the log. */
  readonly #requested = new Map<string, PacedWork>();
  readonly #timer: NodeJS.Timeout;
  #round: Promise<unknown> = Promise.resolve();
  #failure: unknown;
  /** Whether the next round is the first one. */
  #isFirst = true;
  #isEnding = false;
  readonly #openTree: OpenTree = (named, rows) =>
    SignedTree.open(rows, this.signerOf(named), this.#parts.keys.earlier);

  private constructor(parts: LogSignerParts) {
    this.#parts = parts;
    this.#timer = setInterval(() => {
      this.#round = this.#round.then(() => this.round());
    }, parts.seconds * SECOND_MS).unref();
  }

  static async open(parts: LogSignerParts): Promise<LogSigner> {
    await firstValue(parts.database, SIGNED_UP_TO, String(parts.now()));
    // Before this start the last checkpoints may not have been delivered: there is no record of that.
    const notes = await (parts.delivery &&
      parts.database.query<{ note: string }>(
        `SELECT DISTINCT ON (organization_id, log) note FROM log_checkpoints
          ORDER BY organization_id, log, number DESC`,
      ));
    for (const { note } of notes ?? []) parts.delivery?.add(note);
    return new LogSigner(parts);
  }

  /** The key of a log. */
  signerOf(named: NamedLog): Signer {
    const { keys, host } = this.#parts;
    return signerOf(originOf(host, named), keys.key);
  }

  /** Whether some log is not signed, or its checkpoints are not copied; never rejects. */
  async isFailing(): Promise<boolean> {
    if (this.#failure !== undefined || this.#parts.delivery?.isLate === true) return true;
    const found = this.#parts.database.query(
      "SELECT FROM log_trees WHERE contradiction IS NOT NULL LIMIT 1",
    );
    return found.then(
      ({ length }) => length > 0,
      () => true,
    );
  }

  /** The figures of all logs, over all servers. */
  async figures(): Promise<SigningFigures> {
    const { database, now, delivery } = this.#parts;
    const [sums] = await database.query<{ lines: number; contradicted: number }>(
      "SELECT coalesce(sum(size), 0)::bigint AS lines, count(contradiction) AS contradicted FROM log_trees",
    );
    const signedUpTo = Number(await readValue(database, SIGNED_UP_TO));
    const lagSeconds = Math.max(0, now() - signedUpTo) / SECOND_MS;
    return {
      ...{ lines: sums?.lines ?? 0, lagSeconds, contradicted: sums?.contradicted ?? 0 },
      ...(delivery && { deliveryLagSeconds: delivery.lagSeconds }),
    };
  }

  /** Signs every log that is due, unless another server has done so in this interval; never rejects. */
  async round(): Promise<void> {
    const { database, now, log, seconds } = this.#parts;
    this.#failure = undefined;
    try {
      await withLease(
        database,
        "log signing",
        { forMs: LEASE_MS, isKept: true },
        async (extend) => {
          const startedAt = now();
          let extendedAt = systemStopwatch();
          for (const due of await this.#due()) {
            await this.sign(due, async () => {
              if (this.#isEnding) return false;
              if (systemStopwatch() - extendedAt < EXTEND_AFTER_MS) return true;
              extendedAt = systemStopwatch();
              await extend(LEASE_MS);
              return true;
            });
            if (this.#isEnding) break;
          }
          const isComplete = !this.#isEnding && this.#failure === undefined;
          if (isComplete) {
            await writeValue(database, SIGNED_UP_TO, String(startedAt));
            this.#isFirst = false;
          }
          await extend(Math.max(0, seconds * SECOND_MS - EARLY_MS));
        },
      );
    } catch (error) {
      this.#failure = error;
      log.error("the logs are not signed", { error: describeError(error) });
    }
    await this.#writeCopies();
  }

  /**
   * Signs a log for a request, at most once a second over all servers, since each signing is a commit. Requests in
   * between share the next one.
   */
  async signFor(named: NamedLog): Promise<void> {
    const name = `${named.organization} ${named.log}`;
    let paced = this.#requested.get(name);
    if (paced === undefined) {
      const { now, wait = waitMs } = this.#parts;
      paced = new PacedWork(() => this.#signRequested(named), now, wait);
      this.#requested.set(name, paced);
    }
    await paced.run();
  }

  /**
   * Signs a log as it is now; never rejects. A failure is logged, and the next round tries again.
   *
   * @param isToGoOn is asked after each portion of rows
   * @returns whether all of its rows are leaves now, or it is not signed any more
   */
  async sign(
    named: NamedLog,
    isToGoOn: () => Promise<boolean> = async () => !this.#isEnding,
    reason: SigningReason = {},
  ): Promise<boolean> {
    const { database, log, copies, delivery } = this.#parts;
    try {
      let { request } = reason;
      for (let isFirst = true; isFirst || (await isToGoOn()); isFirst = false) {
        const { note, isDone } = await database.transaction((transaction) =>
          followRows(transaction, named, this.#openTree, { ...reason, request }),
        );
        if (note !== undefined) {
          copies?.add(note);
          delivery?.add(note);
        }
        request = undefined;
        if (isDone) return true;
      }
      return false;
    } catch (error) {
      this.#failure = error;
      log.error("the log is not signed", { ...named, error: describeError(error) });
      if (!(error instanceof Contradiction)) return false;
      await this.#contradict(named, error.message);
      return true;
    }
  }

  /** Signs for up to five seconds what was stored since the last round, and ends. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#isEnding = true;
    await this.#round;
    const { log } = this.#parts;
    const until = systemStopwatch() + STOP_MS;
    this.#isFirst = false; // a server that leaves with the old key does not sign every log with it
    try {
      for (const due of await this.#due()) {
        if (systemStopwatch() > until) break;
        await this.sign(due, async () => systemStopwatch() < until);
      }
    } catch (error) {
      log.error("the logs are not signed", { error: describeError(error) });
    }
    await this.#writeCopies();
    await this.#parts.delivery?.close();
  }

  /** Keeps a checkpoint with the signatures of others. */
  async keep(named: NamedLog, note: string): Promise<void> {
    const { database } = this.#parts;
    await database.transaction((transaction) => keepNote(transaction, named, this.#openTree, note));
  }

  /**
   * The logs to sign. After a change of the key these are first all logs, then those that a server with an earlier key has
   * signed meanwhile. Two servers that do not know each other's key would otherwise sign every log in turn for ever.
   */
  #due(): Promise<readonly NamedLog[]> {
    const { database, keys } = this.#parts;
    const earlier = this.#isFirst ? {} : { earlier: keys.earlier.map(typedKey) };
    return dueLogs(database, { present: typedKey(keys.key), ...earlier });
  }

  async #signRequested(named: NamedLog): Promise<void> {
    const { database, now, wait = waitMs } = this.#parts;
    const last = "SELECT requested_ms AS n FROM log_trees WHERE organization_id = $1 AND log = $2";
    const seen = await numberFrom(database, last, [named.organization, named.log]);
    const rest = SECOND_MS - Math.abs(now() - seen); // the clock may be set back
    if (rest > 0) await wait(rest);
    await this.sign(named, undefined, { request: { at: now(), seen } });
  }

  /** Marks a log that nothing signs any more, with an entry in the activity log. */
  async #contradict({ organization, log: tree }: NamedLog, reason: string): Promise<void> {
    const { database, now, ids, log } = this.#parts;
    try {
      await database.transaction(async (transaction) => {
        const isNew = await transaction.run(
          `UPDATE log_trees SET contradiction = $3
            WHERE organization_id = $1 AND log = $2 AND contradiction IS NULL`,
          [organization, tree, reason],
        );
        if (isNew === 0) return;
        const entry = contradictionEntry({ organization, tree, reason }, ids, now());
        await insertEntries(transaction, organization, [entry]);
      });
    } catch (error) {
      const parts = { organization, tree, error: describeError(error) };
      log.error("the activity log has no entry about the log that is not signed", parts);
    }
  }

  async #writeCopies(): Promise<void> {
    const { copies, log } = this.#parts;
    this.#failure = (await writeCopies(copies, log)) ?? this.#failure;
  }
}
