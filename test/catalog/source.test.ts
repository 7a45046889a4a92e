import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { openCatalog, type CatalogCopy, type OpenCatalog } from "../../src/catalog/source.ts";
import { createLog } from "../../src/core/log.ts";
import { silent } from "../support/silent-log.ts";

const LIMITS = { everyMs: 3_600_000, timeoutMs: 60_000, maxBytes: 2_000 };

function catalog(name: string): string {
  return JSON.stringify({
    generated_at: "2026-11-20T00:00:00Z",
    providers: [{ id: "git", name, auth: "none", scope: "repository", operations: [] }],
    capabilities: [],
  });
}

class Copy implements CatalogCopy {
  text: string | undefined;

  async read(): Promise<string | undefined> {
    return this.text;
  }

  async write(text: string): Promise<void> {
    this.text = text;
  }
}

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** A server whose responses the test chooses, and a way to open the catalog that it serves. */
async function serve(t: TestContext, answer: Answer) {
  const server = createServer((request, response) => site.answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const stop = () => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  };
  t.after(stop);
  const lines: string[] = [];
  const log = createLog(
    "warn",
    () => 0,
    (line) => lines.push(line),
  );
  const url = `http://127.0.0.1:${port}/catalog.json`;
  const site = {
    answer,
    stop,
    lines,
    url,
    copy: new Copy(),
    async open(from = url, limits = LIMITS): Promise<OpenCatalog> {
      const opened = await openCatalog(from, site.copy, log, limits);
      t.after(() => opened.close());
      return opened;
    },
  };
  return site;
}

const sends =
  (text: string, status = 200): Answer =>
  (_request, response) =>
    response.writeHead(status).end(text);

function nameIn(opened: OpenCatalog): string | undefined {
  return opened.current().providers[0]?.name;
}

async function folder(t: TestContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "signalbox-catalog-"));
  t.after(() => rm(path, { recursive: true }));
  return path;
}
test("embed is the complete shipped catalog", async () => {
  const opened = await openCatalog("embed", new Copy(), silent);
  const { envelope, providers } = opened.current();
  assert.equal(envelope.source, "embed");
  assert.ok(envelope.counts.providers >= 25, `${envelope.counts.providers} providers`);
  assert.ok(envelope.counts.capabilities >= 200, `${envelope.counts.capabilities} capabilities`);
  assert.ok(providers.every((row) => row.capabilities > 0 && row.operations > 0));
  assert.equal(envelope.runtime.known, false);
  assert.equal(envelope.runtime.commit, undefined);
  assert.ok(envelope.runtime.note);
});

test("a file is read, and reported with its given path", async (t) => {
  const path = join(await folder(t), "own.json");
  await writeFile(path, catalog("Own"));
  const opened = await openCatalog(path, new Copy(), silent);
  assert.equal(nameIn(opened), "Own");
  assert.equal(opened.current().envelope.source, `file:${path}`);
  assert.equal(opened.current().envelope.contract_version, "0");
});

test("a pipe, a device and a directory stop the start at once", async (t) => {
  const at = await folder(t);
  const pipe = join(at, "pipe");
  execFileSync("mkfifo", [pipe]);
  for (const path of [pipe, "/dev/zero", at]) {
    await assert.rejects(openCatalog(path, new Copy(), silent), {
      name: "ConfigError",
      message: `CATALOG_SOURCE: "${path}": expected a file, found something else`,
    });
  }
});

test("a missing file stops the start and is named", async () => {
  await assert.rejects(openCatalog("no-such.json", new Copy(), silent), {
    message: 'CATALOG_SOURCE: "no-such.json" cannot be read (ENOENT)',
  });
});

test("an invalid file stops the start, with the invalid place", async (t) => {
  const path = join(await folder(t), "wrong.json");
  await writeFile(
    path,
    '{"generated_at":"2026-11-20T00:00:00Z","providers":[7],"capabilities":[]}',
  );
  await assert.rejects(openCatalog(path, new Copy(), silent), {
    message: `CATALOG_SOURCE: "${path}": catalog.providers[0]: expected a JSON object`,
  });
});

test("a URL is fetched and reported, and its text is stored", async (t) => {
  const site = await serve(t, sends(catalog("One")));
  const opened = await site.open();
  assert.equal(nameIn(opened), "One");
  assert.equal(opened.current().envelope.source, `url:${site.url}`);
  assert.ok(site.copy.text?.includes("One"));
  assert.deepEqual(site.lines, []);
});

test("a newer catalog at a URL replaces the older one as a whole", async (t) => {
  const site = await serve(t, sends(catalog("One")));
  const opened = await site.open();
  const before = opened.current();
  site.answer = sends(catalog("Two"));
  await opened.refresh();
  assert.equal(nameIn(opened), "Two");
  assert.equal(before.providers[0]?.name, "One");
  assert.ok(site.copy.text?.includes("Two"));
});

test("a URL is fetched again by itself", async (t) => {
  const site = await serve(t, sends(catalog("One")));
  const opened = await site.open(site.url, { ...LIMITS, everyMs: 1 });
  const written = new Promise<void>((resolve) => {
    site.copy.write = async () => resolve();
  });
  site.answer = sends(catalog("Two"));
  await written;
  assert.equal(nameIn(opened), "Two");
});

const failures: readonly (readonly [string, Answer, RegExp])[] = [
  ["an error", sends("no", 503), /it answered with status 503/],
  ["no JSON", sends("<html>"), /it is not JSON/],
  ["a wrong document", sends("{}"), /catalog\.generated_at: required/],
  ["too much", sends(catalog("x".repeat(2_000))), /it answered with more than 2000 bytes/],
  ["nothing", (request) => request.socket.destroy(), /it cannot be reached \(UND_ERR_SOCKET\)/],
];

for (const [name, answer, reason] of failures) {
  test(`a URL that answers ${name} later leaves the catalog as it is, with a warning`, async (t) => {
    const site = await serve(t, sends(catalog("One")));
    const opened = await site.open();
    site.answer = answer;
    await opened.refresh();
    assert.equal(nameIn(opened), "One");
    assert.equal(site.lines.length, 1);
    assert.match(site.lines[0] ?? "", reason);
    assert.ok(site.copy.text?.includes("One"));
  });

  test(`a URL that answers ${name} stops the start if there is no copy`, async (t) => {
    const site = await serve(t, answer);
    await assert.rejects(site.open(), (error: Error) => {
      assert.match(error.message, reason);
      assert.match(error.message, /^CATALOG_SOURCE: "http:.*, and there is no earlier copy of it/);
      return true;
    });
  });
}

test("a URL that never answers is abandoned", async (t) => {
  const site = await serve(t, () => {});
  await assert.rejects(site.open(site.url, { ...LIMITS, timeoutMs: 20 }), /within 20 ms/);
});

test("a body that never ends is abandoned", async (t) => {
  const site = await serve(t, (_request, response) => response.writeHead(200).write("{"));
  await assert.rejects(site.open(site.url, { ...LIMITS, timeoutMs: 50 }), /within 50 ms/);
});

test("a start without the URL uses the last copy, with a warning, and catches up", async (t) => {
  const site = await serve(t, sends(catalog("One")));
  (await site.open()).close();
  site.answer = sends("no", 500);
  const opened = await site.open();
  assert.equal(nameIn(opened), "One");
  assert.equal(opened.current().envelope.source, `url:${site.url}`);
  assert.match(site.lines[0] ?? "", /its last copy is used/);
  site.answer = sends(catalog("Two"));
  await opened.refresh();
  assert.equal(nameIn(opened), "Two");
});

test("the copy of another URL is not used", async (t) => {
  const site = await serve(t, sends(catalog("One")));
  await site.open();
  site.answer = sends("no", 500);
  await assert.rejects(site.open(`${site.url}?other`), /no earlier copy/);
});

test("a damaged copy is ignored", async (t) => {
  const site = await serve(t, sends("no", 500));
  for (const text of ["{", "{}", JSON.stringify({ url: site.url, text: "{}" })]) {
    site.copy.text = text;
    await assert.rejects(site.open(), /no earlier copy/);
  }
});

test("a copy that cannot be stored gives a warning", async (t) => {
  const site = await serve(t, sends(catalog("One")));
  site.copy.write = () => Promise.reject(new Error("ENOSPC"));
  assert.equal(nameIn(await site.open()), "One");
  assert.match(site.lines[0] ?? "", /copy could not be kept.*ENOSPC/);
});

test("user-info is sent, and never reported", async (t) => {
  const seen: (string | undefined)[] = [];
  const site = await serve(t, (request, response) => {
    seen.push(request.headers.authorization);
    sends(catalog("One"))(request, response);
  });
  const url = site.url.replace("http://", "http://us%40er:pa%3Ass%@");
  const opened = await site.open(url);
  const basic = `Basic ${Buffer.from("us@er:pa%3Ass%").toString("base64")}`;
  assert.deepEqual(seen, [basic]);
  assert.equal(opened.current().envelope.source, `url:${site.url}`);
  assert.ok(!site.copy.text?.includes("us%40er"));
  site.answer = sends("no", 500);
  await opened.refresh();
  site.copy.text = undefined;
  await assert.rejects(
    site.open(url),
    (error: Error) => !/us(%40|@)er|pa(%3A|:)ss/.test(error.message),
  );
  assert.doesNotMatch(site.lines.join(""), /us(%40|@)er|pa(%3A|:)ss/);
});

test("a closed catalog does not log the fetch that it aborted", async (t) => {
  const site = await serve(t, sends(catalog("One")));
  const opened = await site.open();
  site.answer = () => {};
  const refreshed = opened.refresh();
  opened.close();
  await refreshed;
  assert.deepEqual(site.lines, []);
  assert.equal(nameIn(opened), "One");
});
