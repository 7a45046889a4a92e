import assert from "node:assert/strict";
import { test } from "node:test";
import { ConfigError } from "../src/config.ts";
import { startSignalbox, type SignalboxOptions } from "../src/index.ts";

const start = (options: unknown) => startSignalbox(options as SignalboxOptions);

test("a start without options says what is missing", async () => {
  const missing = new ConfigError("dataDir: required, the directory that holds everything stored");
  for (const options of [undefined, null, "d", {}]) await assert.rejects(start(options), missing);
});

test("a clock or a log that is no function is refused by name, before anything is written", async () => {
  for (const value of [5, null, "now"]) {
    const dataDir = "/dev/null/never";
    await assert.rejects(
      start({ dataDir, now: value }),
      new ConfigError("now: expected a function"),
    );
    await assert.rejects(
      start({ dataDir, writeLog: value }),
      new ConfigError("writeLog: expected a function"),
    );
  }
});
