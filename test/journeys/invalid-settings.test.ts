import assert from "node:assert/strict";
import { test } from "node:test";
import { launch, newDirectory } from "../support/server-process.ts";

/** One for each place that refuses; the settings themselves are tested with their table. */
const FAULTS: readonly (readonly [Record<string, string>, RegExp])[] = [
  [{ PORT: "http" }, /^PORT: "http"/],
  [{ CATALOG_SOURCE: "/nowhere/catalog.json" }, /catalog\.json/],
  [{ ADMIN_EMAIL: "ada@example.com", ADMIN_PASSWORD: "hunter2" }, /^ADMIN_PASSWORD/],
  [{ HOST: "192.0.2.1" }, /^HOST: "192\.0\.2\.1" is not an address of this machine/],
  [
    { HOST: "https://ada:hunter2@example.com" },
    /^HOST: "https:\/\/…@example\.com" is not an address/,
  ],
  [
    { HOST: "h".repeat(100_000) },
    /^HOST: "h{199}…" is not understood, expected text of at most 255/,
  ],
  [{ DATA_DIR: "d".repeat(100_000) }, /^DATA_DIR: "d{199}…" is not understood, expected .* 4096/],
  [
    { ADMIN_EMAIL: "https://ada:hunter2@", ADMIN_PASSWORD: "long enough 1" },
    /^ADMIN_EMAIL: "https:\/\/…@" is not understood/,
  ],
  [{ DATA_DIR: "/dev/null" }, /^The data directory "\/dev\/null" is a file.* another DATA_DIR/],
  [{ ADMIN_EMAIL: "nobody", ADMIN_PASSWORD: "long enough 1" }, /^ADMIN_EMAIL/],
];

test("an invalid setting stops the start with one line", async (t) => {
  const directory = await newDirectory(t);
  for (const [environment, message] of FAULTS) {
    const server = launch(t, { DATA_DIR: directory, ...environment });
    assert.equal(await server.exit(), 1, JSON.stringify(environment));
    assert.match(server.stderr, /^[^\n]+\n$/);
    assert.match(server.stderr.replace("Signalbox cannot start: ", ""), message);
    assert.ok(!server.stderr.includes("hunter2"));
    assert.equal(server.stdout, "");
  }
});
