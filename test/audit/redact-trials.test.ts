import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { Unavailable } from "../../src/core/errors.ts";
import { Turns } from "../../src/core/scheduling/turns.ts";
import { LONG_TEXT } from "../../src/audit/event-fields.ts";
import { auditRoutes, REDACTION_TRIALS } from "../../src/audit/routes.ts";
import { BATCHES, LARGE_BATCHES } from "../../src/shared-limits.ts";

/** Asks for trials whose texts take `parts` parts of a slice each. */
function askingTrials(parts: number, turns = new Turns(REDACTION_TRIALS)) {
  const row = auditRoutes.find(({ path }) => path === "/audit/redact");
  const { handle } = row as unknown as { handle: (...given: unknown[]) => Promise<unknown> };
  const redactor = {
    *redactInParts(text: string) {
      const left = text === "short" ? 0 : parts;
      for (let part = 0; part < left; part++) {
        const until = performance.now() + 1;
        while (performance.now() < until);
        yield;
      }
      return { text, redactions: [] };
    },
  };
  const needs = { redaction: { trial: () => redactor }, redactionTrials: turns };
  return (text: string, organization = "default", address = "a") => {
    const client = { party: ["public", organization, address], gone: new AbortController().signal };
    return handle({ organization, body: { text }, client }, needs);
  };
}

test("long trials of redaction take turns, and beyond those that may wait they are refused", async () => {
  const ask = askingTrials(40);
  const most = REDACTION_TRIALS.atOnceOfOne + REDACTION_TRIALS.waiting;
  const asked = Array.from({ length: most }, () => ask("long"));
  await turn();
  await assert.rejects(ask("long"), Unavailable);
  const ended: string[] = [];
  await turn(); // the time of slices without a turn is used up in one turn of the event loop
  const short = ask("short").then(() => ended.push("short"));
  const other = ask("long", "acme").then(() => ended.push("acme")); // takes the place of one in the line
  for (const trial of asked)
    trial.then(
      () => ended.push("default"),
      () => ended.push("refused"),
    );
  await Promise.all([short, other, Promise.allSettled(asked)]);
  assert.equal(ended.filter((end) => end === "refused").length, 1);
  assert.equal(ended.filter((end) => end === "default").length, most - 1);
  assert.ok(ended.indexOf("short") < ended.indexOf("default"));
  assert.ok(ended.indexOf("acme") < ended.lastIndexOf("default"));
});

test("nobody's trial is refused once it has begun", async () => {
  const ask = askingTrials(40);
  const users = Array.from({ length: REDACTION_TRIALS.waiting + 1 }, (_, user) => `${user}`);
  const asked = await Promise.allSettled(users.map((user) => ask("long", "default", user)));
  assert.deepEqual(new Set(asked.map(({ status }) => status)), new Set(["fulfilled"]));
});

test("trials and batches for one organization from any number of addresses leave turns to the others", async () => {
  for (const limits of [REDACTION_TRIALS, LARGE_BATCHES, BATCHES]) {
    const turns = new Turns(limits);
    const begun: string[] = [];
    const take = (surface: string, organization: string, address: string): void => {
      turns.take([surface, organization, address], () => begun.push(organization), assert.fail);
    };
    for (const address of ["a", "a", "b", "c", "d"]) take("v1", "evil", address);
    take("v1", "acme", "f");
    take("public", "default", "g");
    for (let i = 0; i < 20; i++) await turn(); // at most one begins in a turn of the event loop
    assert.deepEqual(begun.sort(), ["acme", "default", "evil", "evil"]);
  }
});

test("the texts that wait for a trial of redaction have at most 16 MiB", () => {
  assert.ok(REDACTION_TRIALS.waiting * 2 * LONG_TEXT <= 16 << 20);
});
