import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { operationsOf } from "../../src/metadata/operations.ts";
import { curlLine } from "../../src/portal/curl.ts";
import { exampleRequest } from "../../src/portal/server/example-request.ts";
import { sampleRows } from "../metadata/sample-rows.ts";

const operations = operationsOf(sampleRows, ["public", "v1", "portal"]);

function lineOf(id: string): string {
  const operation = operations.find((one) => one.id === id);
  assert.ok(operation);
  return curlLine(exampleRequest(operation, "https://signalbox.test"));
}

test("a line contains the method, the body and the credential of the operation", () => {
  assert.equal(lineOf("getPublicWagons"), "curl 'https://signalbox.test/api/public/wagons'");
  assert.equal(
    lineOf("getV1Wagons"),
    "curl 'https://signalbox.test/api/v1/wagons' \\\n  -H 'X-API-Key: <api_key>'",
  );
  assert.equal(
    lineOf("postV1Wagons"),
    [
      "curl -X POST 'https://signalbox.test/api/v1/wagons'",
      "-H 'Authorization: Bearer <token>'",
      "-H 'Content-Type: application/json'",
      `-d '{"id":"<id>"}'`,
    ].join(" \\\n  "),
  );
});

test("special characters of the shell reach curl unchanged", () => {
  const body = { text: 'it\'s $HOME `id` "quoted" \\ !' };
  const line = curlLine({ method: "POST", url: "http://x/?a=1&b=*", body });
  const shown = execFileSync("sh", ["-c", line.replace(/^curl/, "printf '%s\\n'")], {
    encoding: "utf8",
  });
  assert.deepEqual(shown.trimEnd().split("\n"), [
    "-X",
    "POST",
    "http://x/?a=1&b=*",
    "-H",
    "Content-Type: application/json",
    "-d",
    JSON.stringify(body),
  ]);
});
