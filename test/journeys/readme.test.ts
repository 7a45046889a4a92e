import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { promisify } from "node:util";
import { start } from "../support/start.ts";

const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8");

test("the session of the README runs as it is printed", async (t) => {
  const session =
    /<!-- session -->\n```sh\n([\s\S]*?)```/.exec(readme)?.[1] ?? assert.fail("no session");
  const app = await start(t);
  const { stdout } = await promisify(execFile)("bash", ["-euo", "pipefail", "-c", session], {
    env: { ...process.env, URL: app.url },
  });

  assert.match(stdout, /"version":"v1".*"active":true/);
  assert.match(stdout, /304\n/);
  const dashboard = JSON.parse(stdout.slice(stdout.indexOf('{"commands_today"'))) as Record<
    string,
    unknown
  >;
  assert.ok(stdout.includes('"accepted":2'));
  assert.deepEqual(
    [
      dashboard["commands_today"],
      dashboard["denied_today"],
      dashboard["policy_version"],
      dashboard["runtimes_online"],
    ],
    [3, 1, "v1", 1],
  );
});
