/** Checkpoints of a database that its servers send to a witness. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { SECOND_MS } from "../../../src/core/clock.ts";
import { newPrivateKey, openNote, parseVkey, pemOf } from "../../../src/proof/note.ts";
import { NoteReceiver } from "../../support/note-receiver.ts";
import { withoutPostgres } from "../../support/postgres.ts";
import { startThree } from "../../support/servers.ts";
import { TestWitness } from "../../support/test-witness.ts";

const V1 = "/api/v1";
const key = pemOf(newPrivateKey());

test(
  "servers send a witness what each of them signs, with the proof",
  { skip: withoutPostgres },
  async (t) => {
    const receiver = await NoteReceiver.start(t);
    const witness = new TestWitness();
    receiver.reply = (request) => witness.answer(request);
    const servers = await startThree(t, {
      ...{ checkpointSeconds: 86_400, checkpointUrl: `${receiver.url}/add-checkpoint` },
      logSigningKey: key,
    });
    const [first, second] = servers;
    const { text: vkey } = await first.get(`${V1}/audit/verifier`);
    witness.key = parseVkey(vkey.trim());
    const sign = async (app: typeof first, size: number): Promise<void> => {
      for (const server of servers) server.advance(SECOND_MS);
      const id = `event-${size}`;
      assert.equal((await app.post(`${V1}/audit`, { id, command: "git push" })).status, 202);
      assert.equal((await app.get(`${V1}/audit/${id}/proof`)).status, 200);
    };
    await sign(first, 1);
    await receiver.got(1);
    await sign(second, 2);
    await receiver.got(3); // the second server learns from the witness what it has
    await sign(first, 3);
    await receiver.got(5);
    for (const server of servers) await server.close();
    assert.equal(witness.seen?.size, 3);
    await first.open();
    const { text } = await first.get(`${V1}/audit/checkpoint`);
    assert.equal(openNote(text, [witness.key, witness.signer]).signers.length, 2);
  },
);
