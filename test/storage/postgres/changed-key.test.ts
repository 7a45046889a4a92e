/** A change of the key that signs logs: logs that do not grow get a checkpoint of the new key, too. */
import assert from "node:assert/strict";
import type { KeyObject } from "node:crypto";
import { test } from "node:test";
import { newPrivateKey, openNote, pemOf, signerOf } from "../../../src/proof/note.ts";
import { openPostgresEngine } from "../../../src/storage/postgres/engine.ts";
import { LogSigner } from "../../../src/storage/postgres/proof/signer.ts";
import { createDatabase, openDatabase, withoutPostgres } from "../../support/postgres.ts";
import { silent } from "../../support/silent-log.ts";
import { start, type Scope } from "../../support/start.ts";

const skip = withoutPostgres;
const KEYS = { old: newPrivateKey(), new: newPrivateKey() } as const;
const LOGS = ["audit", "activity"] as const;

/** A service over a database, whose logs are signed with the old key. */
async function signed(t: Scope) {
  const url = await createDatabase();
  const database = await openDatabase(url, 4);
  t.after(() => database.close());
  const settings = { checkpointSeconds: 86_400, logSigningKey: pemOf(KEYS.old) };
  const app = await start(t, settings, undefined, (parts) =>
    openPostgresEngine({
      ...parts,
      config: { ...parts.config, databaseUrl: url, databasePoolSize: 4 },
    }),
  );
  const report = () => app.post("/api/v1/audit", { command: "git push" });
  await report();
  await app.post("/api/v1/policies", { version: "v1", yaml: "rules: []" });
  await app.restart(); // the stop signs

  /** The keys that signed each checkpoint of a log, oldest first. */
  const signers = async (log: (typeof LOGS)[number]) => {
    const rows = await database.query<{ note: string }>(
      "SELECT note FROM log_checkpoints WHERE log = $1 ORDER BY number",
      [log],
    );
    const known = Object.entries(KEYS).map(([name, key]) => ({
      name,
      signer: signerOf(`signalbox/default/${log}`, key),
    }));
    return rows.map(({ note }) => {
      const all = known.map(({ signer }) => signer);
      const found = openNote(note, all).signers;
      return known.flatMap(({ name, signer }) => (found.includes(signer) ? [name] : [])).join("+");
    });
  };

  /** A server with these keys, which signs what is due for it. */
  const server = async (key: KeyObject, ...earlier: KeyObject[]) => {
    const signer = await LogSigner.open({
      ...{ database, now: () => app.now, ids: () => "id", log: silent, keys: { key, earlier } },
      ...{ host: "signalbox", seconds: 86_400 },
    });
    const round = async (): Promise<void> => {
      await database.run("DELETE FROM leases");
      await signer.round();
    };
    return { round, close: () => signer.close() };
  };
  return { report, signers, server };
}

test(
  "logs that do not grow are signed once by the old key and the new one",
  { skip },
  async (t) => {
    const { signers, server } = await signed(t);
    const newer = await server(KEYS.new, KEYS.old);
    await newer.round();
    await newer.round();
    await newer.close();
    for (const log of LOGS) assert.deepEqual(await signers(log), ["old", "old+new"]);
  },
);

test(
  "logs that do not grow are signed by the new key alone if the old one is lost",
  { skip },
  async (t) => {
    const { signers, server } = await signed(t);
    const older = await server(KEYS.old);
    const newer = await server(KEYS.new);
    for (const { round } of [older, newer, older, newer]) await round();
    await older.close();
    await newer.close();
    for (const log of LOGS) assert.deepEqual(await signers(log), ["old", "new"]);
  },
);

test(
  "a log that a server with the old key has signed meanwhile is signed by both",
  { skip },
  async (t) => {
    const { report, signers, server } = await signed(t);
    const older = await server(KEYS.old);
    const newer = await server(KEYS.new, KEYS.old);
    for (const { round } of [older, newer]) await round();
    await report();
    for (const { round } of [older, newer, older, newer]) await round();
    await newer.close();
    const leaving = await server(KEYS.old);
    await leaving.close();
    await older.close();
    assert.deepEqual(await signers("audit"), ["old", "old+new", "old", "old+new"]);
  },
);
