/** State of sign-ins and downloads that all servers share: failed attempts, and tickets. */
import type { TicketRecords } from "../../audit/shared-tickets.ts";
import {
  FAILURES_PER_ADDRESS,
  FAILURES_PER_EMAIL,
  pairOf,
  refuseUntil,
  waitAfter,
  WINDOW_MS,
  type SignInAttempt,
  type LoginThrottle,
} from "../../auth/throttle.ts";
import { networkOf } from "../../core/address.ts";
import type { Clock } from "../../core/clock.ts";
import type { Database, Statements } from "./database.ts";
import { toText } from "./text.ts";

/** Counts failed sign-ins over all servers, in the table `sign_in_attempts`. */
export function sharedThrottle(database: Database, now: Clock): LoginThrottle {
  let sweptAt = -Infinity;
  return {
    async begin(email, address) {
      const network = networkOf(address);
      const pair = toText(pairOf(network, email));
      const at = now();
      if (Math.abs(at - sweptAt) >= WINDOW_MS) {
        sweptAt = at;
        await sweep(database, at);
      }
      const asker = { party: ["v1", "", network] };
      const id = await database.transaction(
        (transaction) => beginAttempt(transaction, network, pair, at),
        asker,
      );
      return attemptOf(database, id, pair, now);
    },
  };
}

interface CountedAttempt {
  readonly pair: string | null;
  readonly failed_at: number | null;
}

async function beginAttempt(
  transaction: Statements,
  network: string,
  pair: string,
  now: number,
): Promise<number> {
  // Locks the network, so that its attempts are counted one after another.
  await transaction.run(
    `INSERT INTO sign_in_networks (network, used_at) VALUES ($1, $2)
     ON CONFLICT (network) DO UPDATE SET used_at = excluded.used_at`,
    [network, now],
  );
  const attempts = await transaction.query<CountedAttempt>(
    `SELECT pair, failed_at FROM sign_in_attempts
      WHERE network = $1 AND coalesce(failed_at, began_at) > $2
        AND coalesce(failed_at, began_at) < $3 ORDER BY failed_at`,
    [network, now - WINDOW_MS, now + WINDOW_MS], // the clock of a server may have been ahead
  );
  const waitMs = (counted: readonly CountedAttempt[], limit: number): number => {
    const failures = counted.flatMap(({ failed_at: at }) => (at === null ? [] : [at]));
    return waitAfter(failures, counted.length - failures.length, limit, now);
  };
  const ofPair = attempts.filter((attempt) => attempt.pair === pair);
  refuseUntil(Math.max(waitMs(ofPair, FAILURES_PER_EMAIL), waitMs(attempts, FAILURES_PER_ADDRESS)));
  const [row] = await transaction.query<{ id: number }>(
    "INSERT INTO sign_in_attempts (network, pair, began_at) VALUES ($1, $2, $3) RETURNING id",
    [network, pair, now],
  );
  return row?.id ?? 0;
}

function attemptOf(database: Database, id: number, pair: string, now: Clock): SignInAttempt {
  return {
    async failed() {
      await database.run("UPDATE sign_in_attempts SET failed_at = $2 WHERE id = $1", [id, now()]);
    },
    async succeeded() {
      await database.transaction(async (transaction) => {
        await transaction.run("DELETE FROM sign_in_attempts WHERE id = $1", [id]);
        // The failures still count for the address.
        await transaction.run(
          "UPDATE sign_in_attempts SET pair = NULL WHERE pair = $1 AND failed_at IS NOT NULL",
          [pair],
        );
      });
    },
    async abandoned() {
      await database.run("DELETE FROM sign_in_attempts WHERE id = $1", [id]).catch(() => 0);
    },
  };
}

async function sweep(database: Database, now: number): Promise<void> {
  const before = now - 2 * WINDOW_MS;
  await database.run("DELETE FROM sign_in_attempts WHERE coalesce(failed_at, began_at) < $1", [
    before,
  ]);
  await database.run("DELETE FROM sign_in_networks WHERE used_at < $1", [before]);
}

/** Keeps sealed tickets in the table `export_tickets`. */
export function ticketRecords(database: Database): TicketRecords {
  const sealedBy = async (text: string, hash: string, now: number): Promise<Buffer | undefined> => {
    const [row] = await database.query<{ sealed: Buffer }>(text, [hash, now]);
    return row?.sealed;
  };
  return {
    async put(hash, sealed, expiresAt) {
      await database.run(
        `WITH ended AS (DELETE FROM export_tickets WHERE expires_at < $3::bigint - 600000)
         INSERT INTO export_tickets (hash, sealed, expires_at) VALUES ($1, $2, $3)`,
        [hash, sealed, expiresAt],
      );
    },
    find: (hash, now) =>
      sealedBy("SELECT sealed FROM export_tickets WHERE hash = $1 AND expires_at > $2", hash, now),
    take: (hash, now) =>
      sealedBy(
        "DELETE FROM export_tickets WHERE hash = $1 AND expires_at > $2 RETURNING sealed",
        hash,
        now,
      ),
    async remove(hash) {
      await database.run("DELETE FROM export_tickets WHERE hash = $1", [hash]);
    },
  };
}
