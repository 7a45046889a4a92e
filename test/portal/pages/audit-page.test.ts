import assert from "node:assert/strict";
import { after, test } from "node:test";
import { start } from "../../support/start.ts";

const app = await start({ after });
const PAGE = "/portal/audit";
const MIB = 1 << 20;

/** The text of a page without its markup. */
async function wordsOf(search = ""): Promise<string> {
  const { status, text } = await app.get(PAGE + search);
  assert.equal(status, 200);
  const main = text.slice(text.indexOf("<main"), text.indexOf("</main>"));
  return main.replace(/<[^>]*>/g, " ").replace(/\s+/g, " ");
}

test("an empty page shows the shell line that reports an event", async () => {
  assert.match(await wordsOf(), /No commands yet .* curl -X POST .*\/api\/v1\/audit/);
});

test("the page shows the events of its view, their exact number and the filters", async () => {
  await app.post("/api/v1/audit", {
    events: [
      { id: "e1", command: "git push", executor: "ada", policy_decision: "ALLOWED" },
      { id: "e2", command: "git pull", executor: "ada", policy_decision: "DENIED", reason: "no" },
      { id: "e3", command: "npm test", executor: "eve", policy_decision: "DENIED" },
      { id: "e4", command: "old", timestamp: "2025-01-01T00:00:00Z", trace_id: "t1", policy: "v1" },
    ],
  });
  assert.match(await wordsOf(), /4 events of all time/);
  const words = await wordsOf("?executor=ada&decision=DENIED&range=24h");
  assert.match(words, /1 event in the last 24 hours/);
  assert.match(words, /Decision Denied.* Executor ada/);
  assert.match(words, /git pull no/);
  assert.doesNotMatch(words, /git push/);
  for (const search of ["?trace_id=t1", "?policy=v1", "?to=2025-02-01", "?q=OLD"]) {
    assert.match(await wordsOf(search), /1 event /, search);
  }
});

test("an empty result names the filters to drop and the number of events without them", async () => {
  const words = await wordsOf("?executor=ada&status=lost");
  assert.match(words, /Nothing matches .*Drop status lost 2 events/);
  assert.doesNotMatch(words, /Drop executor/);
  assert.match(await wordsOf("?trace_id=t1&range=1h"), /Look over all time 1 event/);
  assert.match(await wordsOf("?q=x1&status=lost"), /Show everything/);
});

test("a filter's value that is the name of a property is a text like others", async () => {
  for (const name of ["constructor", "toString", "__proto__"]) {
    for (const filter of ["decision", "consumer", "not_consumer"]) {
      assert.ok((await wordsOf(`?${filter}=${name}`)).includes(name), `${filter}=${name}`);
    }
  }
});

test("the page shows the service's refusal of an invalid parameter", async () => {
  assert.match(await wordsOf("?from=never"), /From: expected a date and time, such as/);
  assert.match(
    await wordsOf("?cursor=mine"),
    /The page of the list: not understood; begin again without it/,
  );
  assert.match(await wordsOf("?event=e9"), /There is no audit event (?:"|&quot;)e9/);
});

test("a long command is cut in the list and in the open event, which links to the whole event", async () => {
  const command = `start ${"x".repeat(MIB - 9)}end`;
  await app.post("/api/v1/audit", { id: "long", command, message: "m".repeat(20_000) });
  const list = await app.get(PAGE);
  assert.equal(list.status, 200);
  assert.ok(list.text.length < 100_000, `${list.text.length}`);
  assert.doesNotMatch(list.text, /xend/);
  const { text: open } = await app.get(`${PAGE}?event=long`);
  assert.ok(open.length < 250_000, `${open.length}`);
  const pieces = [...open.matchAll(/<code>([^<]*)<\/code>/g)];
  const texts = pieces.map(([, text = ""]) => text);
  const whole = (text: string) => texts.some((one, i) => one + (texts[i + 1] ?? "") === text);
  assert.ok(whole(`${command.slice(0, 20_000)}…`));
  assert.ok(whole("m".repeat(20_000)));
  assert.match(open, /<a href="\/api\/v1\/audit\/long">Show the whole event as JSON<\/a>/);
  assert.equal((await app.get("/api/v1/audit/long")).body.command, command);
  const short = await app.get(`${PAGE}?event=e1`);
  assert.doesNotMatch(short.text, /Show the whole event/);
});

test("the list names invisible characters and marks blank commands", async () => {
  await app.post("/api/v1/audit", { command: "rm \u202etxt.exe" });
  await app.post("/api/v1/audit", { command: "  \n " });
  const { text } = await app.get(PAGE);
  assert.match(
    text,
    /<code>rm <span class="unseen" title="U\+202E">\u202e<\/span>txt\.exe<\/code>/,
  );
  assert.match(text, /<code>\(blank\)<\/code>/);
});

test("marks in place of secrets are set off in the list, and the open event counts them", async () => {
  await app.post("/api/v1/audit", { id: "kept", command: "A_KEY=abc B_KEY=def make" });
  const { text } = await app.get(`${PAGE}?event=kept`);
  const mark = /B_KEY=<span class="redacted" title="[^"]+"\s*>\[redacted:named-value\]<\/span/g;
  assert.equal(text.match(mark)?.length, 2, "in the row and in the open event");
  assert.match(text, /2 secrets taken out before this event was stored/);
  assert.doesNotMatch((await app.get(`${PAGE}?event=e1`)).text, /taken out before/);
});

test("the overview renders denials with very long commands", async () => {
  const denial = { command: "x".repeat(MIB), decision: "DENIED" };
  for (let i = 0; i < 2; i++) await app.post("/api/v1/audit", denial);
  const overview = await app.get("/", { accept: "text/html" });
  assert.equal(overview.status, 200);
  assert.match(overview.text, /xxxx/);
});

test("the links of the list lead through all events", async (t) => {
  const many = await start(t);
  const events = Array.from({ length: 120 }, (_, i) => ({ id: `n${i}`, command: "ls" }));
  await many.post("/api/v1/audit", { events });
  const seen: string[] = [];
  let path: string | undefined = PAGE;
  while (path !== undefined) {
    const { text } = await many.get(path);
    seen.push(...[...text.matchAll(/id="row-(n\d+)"/g)].map(([, id = ""]) => id));
    const [, next] = /id="older"\s+href="([^"]+)"/.exec(text) ?? [];
    path = next?.replaceAll("&amp;", "&");
  }
  assert.deepEqual(seen, events.map(({ id }) => id).reverse());
});

test("the CSV link keeps the filters and asks for a byte order mark", async () => {
  const { text } = await app.get("/portal/audit?decision=denied");
  const [, href = ""] = /href="([^"]+)"[^>]*>CSV, for spreadsheets/.exec(text) ?? [];
  const address = new URL(href.replaceAll("&amp;", "&"), app.url);
  assert.equal(address.searchParams.get("decision"), "denied");
  const bytes = await (await fetch(address)).arrayBuffer();
  assert.equal(Buffer.from(bytes).toString("utf8", 0, 6), "\uFEFFid,");
});

test("the page contains no event while credentials are required", async (t) => {
  const closed = await start(t, { requireAuth: true });
  await closed.post("/api/public/audit", { id: "wagon", command: "wagon-7" });
  const page = await closed.get(`${PAGE}?event=wagon`);
  assert.equal(page.status, 200);
  assert.doesNotMatch(page.text, /wagon-7/);
});
