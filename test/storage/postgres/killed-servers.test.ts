/**
 * Kills servers that share a database at random moments, again and again, while many connections write through
 * all of them. After each round the database is compared with what was acknowledged.
 *
 * `KILL_ROUNDS` is six times the number of rounds (24 by default), `KILL_SEED` repeats the random choices.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { Client } from "../../support/client.ts";
import { run } from "../../support/command-line.ts";
import {
  compare,
  compareEveryEntry,
  Ledger,
  randomFrom,
  SINGLE_WRITERS,
  WRITERS,
  type Send,
  type Writer,
} from "../../support/kill-ledger.ts";
import { createDatabase, withoutPostgres } from "../../support/postgres.ts";
import { launch, type ServerProcess } from "../../support/server-process.ts";

const ROUNDS = Math.ceil(Number(process.env["KILL_ROUNDS"] ?? 24) / 6);
const SEED = Number(process.env["KILL_SEED"] ?? Date.now() % 1_000_000);
const SERVERS = 3;
const MOST_WRITES = 200;
const LONGEST_DELAY_MS = 20;

/** A running server. */
interface Running {
  readonly process: ServerProcess;
  readonly url: string;
  readonly client: Client;
  isKilled: boolean;
}

test(
  `${ROUNDS} times servers of one database are killed, and no acknowledged write is lost (seed ${SEED})`,
  { skip: withoutPostgres },
  async (t) => {
    const random = randomFrom(SEED);
    const databaseUrl = await createDatabase();
    const ledger = new Ledger();
    const running: Running[] = [];
    const open = async (): Promise<void> => {
      const settings = { DATABASE_POOL_SIZE: "4", CHECKPOINT_SECONDS: "1" };
      const process = launch(t, { DATABASE_URL: databaseUrl, ...settings });
      running.push({ process, url: await process.url(), client: new Client(), isKilled: false });
    };
    let [answers, isOver, mostAnswers] = [0, false, Infinity];
    /** Sends to any server; throws where the server is killed before it answers. */
    const send: Send = async (method, path, body) => {
      const server = running[Math.floor(random() * running.length)];
      if (server === undefined) throw await wait(5, new Error("no server is running"));
      try {
        const answer = await server.client.request(server.url, method, `/api/v1${path}`, body);
        answers++;
        return answer;
      } catch (error) {
        assert.ok(server.isKilled, String(error));
        throw error;
      }
    };
    const repeat = async (write: Writer): Promise<void> => {
      while (!isOver) {
        if (answers >= mostAnswers) await wait(5);
        else {
          await write(send, ledger).catch((error: unknown) => {
            if (error instanceof assert.AssertionError) throw error;
          });
        }
      }
    };
    const reached = async (count: number): Promise<void> => {
      while ((answers < count || !ledger.hasEach()) && !isOver) await wait(1);
    };
    const killSome = async (): Promise<void> => {
      await reached(answers + random() * MOST_WRITES);
      await wait(random() * LONGEST_DELAY_MS);
      const killed = running.splice(0, 1 + Math.floor(random() * SERVERS));
      for (const server of killed) {
        server.isKilled = true;
        server.process.kill("SIGKILL");
      }
      mostAnswers = answers + MOST_WRITES; // starting takes seconds, in which the others would answer thousands
      await Promise.all([
        ...killed.map(async (server) => {
          await server.process.exit();
          server.client.close();
          assert.equal(server.process.stderr, "");
        }),
        ...killed.map(open),
      ]);
      mostAnswers = Infinity;
      await reached(answers + 20);
      isOver = true;
    };
    await Promise.all(Array.from({ length: SERVERS }, open));
    for (let round = 0; round < ROUNDS; round++) {
      isOver = false;
      const writers = [...WRITERS, ...WRITERS, ...SINGLE_WRITERS].map(repeat);
      await Promise.all([killSome(), ...writers]).finally(() => (isOver = true));
      await compare(send, ledger);
      await compareEveryEntry(send);
    }
    assert.ok(ledger.hasEach());
    // A request has the rest signed.
    for (const log of ["audit", "activity"]) {
      const { text } = await send("GET", `/${log}?limit=1`, undefined);
      const [{ id }] = JSON.parse(text)[log === "audit" ? "events" : "entries"];
      assert.equal((await send("GET", `/${log}/${id}/proof`, undefined)).status, 200);
    }
    const named = ["log-key", "signalbox/default/audit", "--database", databaseUrl];
    const key = (await run(named)).out.trim();
    const verified = await run(["verify", "--database", databaseUrl, "--key", key]);
    assert.equal(verified.code, 0, verified.out);
    assert.match(verified.out, /default audit: (\d+) events, \1 confirmed by checkpoints/);
  },
);
