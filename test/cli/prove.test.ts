import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { after, test } from "node:test";
import { answering } from "../support/answering.ts";
import { run } from "../support/command-line.ts";
import { buildGo, withoutGo } from "../support/go-program.ts";
import { newDirectory } from "../support/server-process.ts";
import { ADMIN, ADMIN_SETTINGS, start } from "../support/start.ts";

const app = await start(
  { after },
  { ...ADMIN_SETTINGS, checkpointSeconds: 86_400, auditSegmentBytes: 64 << 10 },
);
const ids = Array.from({ length: 600 }, (_, i) => `event-${i}`);
const { id: acme } = await app.createOrganization("Acme", await app.asUser(ADMIN));
for (let i = 0; i < ids.length; i += 100) {
  const events = ids.slice(i, i + 100).map((id) => ({ id, command: `git push ${id} ü` }));
  await app.post("/api/v1/audit", { events });
}
await app.restart(); // which signs
await app.post("/api/v1/audit", { id: "late", command: "git log" });

const folder = await newDirectory({ after });
const [event, proof] = [join(folder, "event.json"), join(folder, "e.tlog-proof")];
const data = ["--data", app.dataDir];
const origin = "signalbox/default/audit";

async function keyOf(name: string): Promise<string> {
  const { code, out } = await run(["log-key", name, ...data]);
  assert.equal(code, 0);
  return out.trim();
}

test("the proof of every kind of event verifies without the server, which goes on meanwhile", async () => {
  const key = await keyOf(origin);
  for (const i of [0, 1, 255, 256, 599]) {
    const id = ids[i] ?? "";
    const made = await run(["prove", id, ...data, "--event", event, "--out", proof]);
    assert.deepEqual(made, { code: 0, out: "", error: "" });
    assert.equal(JSON.parse(await readFile(event, "utf8")).id, id);
    const { code, out } = await run(["verify-proof", proof, "--event", event, "--key", key]);
    assert.deepEqual([code, out], [0, `${event}: is event ${i} of the first 600 in ${origin}\n`]);
  }
  assert.equal((await run(["prove", ids[599] ?? "", ...data])).out, await readFile(proof, "utf8"));
});

test("the event of a proof is the line that an export has", async () => {
  await run(["prove", "event-77", ...data, "--event", event, "--out", proof]);
  const { text } = await app.get("/api/v1/audit/export?format=ndjson");
  assert.ok(text.split("\n").includes((await readFile(event, "utf8")).trimEnd()));
});

test("a server answers the event and its proof, which are checked before they are written", async () => {
  const key = await keyOf(origin);
  const from = ["--url", app.url, "--event", event, "--out", proof];
  const made = await run(["prove", "event-300", ...from, "--key", key]);
  assert.deepEqual(made, { code: 0, out: "", error: "" });
  const { code, out } = await run(["verify-proof", proof, "--event", event, "--key", key]);
  assert.equal(code, 0);
  assert.match(out, /is event 300 of the first 60\d in/);
  const before = await readFile(proof, "utf8");
  const other = await keyOf("signalbox/default/activity");
  const refused = await run(["prove", "event-3", ...from, "--key", other]);
  assert.equal(refused.code, 1);
  assert.match(refused.error, /not signed by signalbox\/default\/activity/);
  assert.equal(await readFile(proof, "utf8"), before);
  const missing = await run(["prove", "none", ...from]);
  assert.equal(missing.code, 1);
  assert.match(missing.error, /There is no audit event "none"/);
  const both = await run(["prove", "event-3", ...from, ...data]);
  assert.equal(both.code, 2);
  assert.match(both.error, /--data: not with --url/);
});

test("the answers of a service that requires a key are proved with one", async (t) => {
  const locked = await start(t, { checkpointSeconds: 60, requireAuth: true, ...ADMIN_SETTINGS });
  const admin = await locked.asUser(ADMIN);
  const asked = { name: "auditor", scopes: "runtime" };
  const { api_key: apiKey } = (await locked.post("/api/v1/api-keys", asked, admin)).body;
  await locked.post("/api/v1/audit", { id: "one", command: "git log" }, { "x-api-key": apiKey });
  const args = ["prove", "one", "--url", locked.url];
  const refused = await run(args);
  assert.equal(refused.code, 1);
  assert.match(refused.error, /SIGNALBOX_API_KEY to a key of the scope runtime/);
  const { code, out } = await run(args, "", { SIGNALBOX_API_KEY: apiKey });
  assert.equal(code, 0);
  assert.match(out, /^c2sp.org\/tlog-proof@v1\nindex 0\n/);
});

test("an answer of another program is not written as a proof", async (t) => {
  const url = await answering(t, 200, '{"status":"ok"}');
  const { code, out, error } = await run(["prove", "one", "--url", url]);
  assert.equal(code, 2);
  assert.equal(out, "");
  assert.match(error, /answer is not a proof: .+: correct --url\n$/);
});

test("a service that cannot be reached or fails is exit code 1", async (t) => {
  for (const [url, said] of [
    ["http://127.0.0.1:1", /cannot be reached: ECONNREFUSED/],
    [await answering(t, 502, "bad gateway"), /The server answered 502: bad gateway/],
  ] as const) {
    const { code, out, error } = await run(["prove", "one", "--url", url]);
    assert.deepEqual([code, out], [1, ""]);
    assert.match(error, said);
  }
});

test("a terminal obeys no control characters of a proof that a server answered", async (t) => {
  const answer = "c2sp.org/tlog-proof@v1\nindex 0\n\n\u001b]0;title\u0007\n";
  const args = ["prove", "one", "--url", await answering(t, 200, answer)];
  const shown = await run(args, "", { TERMINAL: "yes" });
  assert.match(shown.out, /^c2sp.org\/tlog-proof@v1\nindex 0\n\n\\u001b\]0;title\\u0007\n$/);
  assert.equal((await run(args)).out, answer);
});

test("entries of the activity log and events of other organizations have proofs of their own", async () => {
  const { body } = await app.get("/api/v1/activity", await app.asUser(ADMIN));
  const entry = body.entries.find(
    ({ action }: { action: string }) => action === "organization.create",
  );
  const made = await run([
    "prove",
    entry.id,
    ...data,
    "--activity",
    "--event",
    event,
    "--out",
    proof,
  ]);
  assert.equal(made.code, 0, made.error);
  const key = await keyOf("signalbox/default/activity");
  assert.equal((await run(["verify-proof", proof, "--event", event, "--key", key])).code, 0);
  const wrong = await run(["verify-proof", proof, "--event", event, "--key", await keyOf(origin)]);
  assert.match(wrong.error, /not signed by signalbox\/default\/audit/);
  const other = await run(["prove", "event-1", ...data, "--organization", acme]);
  assert.match(other.error, /has no checkpoint yet|There is no event "event-1"/);
});

test(
  "Go's packages verify the proof of a running server's event",
  { skip: withoutGo },
  async () => {
    const program = join(folder, "check-proof");
    buildGo(join(import.meta.dirname, "../../docs/check-proof.go"), program);
    await run(["prove", "event-300", ...data, "--event", event, "--out", proof]);
    const args = [await keyOf(origin), "inclusion", proof, event];
    const { stdout } = spawnSync(program, args, { encoding: "utf8" });
    assert.equal(stdout, "the line is event 300 of the 600 in the checkpoint\n");
  },
);

for (const [what, args, code, said] of [
  [
    "an unknown event",
    ["none", ...data],
    1,
    /There is no event "none" in the audit log of "default"/,
  ],
  [
    "an event after the checkpoint",
    ["late", ...data],
    1,
    /newer than the last checkpoint: a server .* at once/,
  ],
  ["no directory", ["x"], 2, /Expected one of --data, --database and --url/],
  ["another directory", ["x", "--data", folder], 1, /is not a data directory/],
  ["an odd organization", ["x", ...data, "--organization", "../x"], 2, /is not an id/],
  ["a file that cannot be written", ["event-1", ...data, "--out", folder], 2, /--out: .*EISDIR/],
] as const) {
  test(`${what} is exit code ${code}`, async () => {
    const ran = await run(["prove", ...args]);
    assert.deepEqual([ran.code, ran.out], [code, ""]);
    assert.match(ran.error, said);
  });
}

test("a log whose first checkpoint is due later says when it is signed", async (t) => {
  const young = await start(t, { checkpointSeconds: 86_400 });
  await young.post("/api/v1/audit", { id: "first", command: "git push" });
  const ran = await run(["prove", "first", "--data", young.dataDir]);
  assert.equal(ran.code, 1);
  assert.match(
    ran.error,
    /has no checkpoint yet: a server .* at once when it is asked for the proof/,
  );
});

test("a directory without checkpoints has no key", async (t) => {
  const plain = await start(t, {});
  const ran = await run(["log-key", "x", "--data", plain.dataDir]);
  assert.deepEqual([ran.code, ran.out], [1, ""]);
  assert.match(ran.error, /There is no log-key: set CHECKPOINT_SECONDS/);
});
