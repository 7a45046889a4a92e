import assert from "node:assert/strict";
import { test } from "node:test";
import type { OwnSetting } from "../../../src/audit/redaction/own-rules.ts";
import { EventRedaction } from "../../../src/audit/redaction/event-redaction.ts";

const RULE: OwnSetting = { key: "audit.redact.literals", value: "mellon" };

test("the settings of thousands of organizations without rules are read once in a while", async () => {
  let reads = 0;
  const settingsOf = async (): Promise<readonly OwnSetting[]> => {
    reads++;
    return [];
  };
  const redaction = new EventRedaction(true, settingsOf, () => 1_000_000);
  for (let round = 0; round < 3; round++)
    for (let i = 0; i < 5_000; i++) await redaction.redactorFor(`org-${i}`);
  assert.equal(reads, 5_000);
});

test("an organization's rules are kept beside those of thousands without", async () => {
  const reads: string[] = [];
  const settingsOf = async (organization: string): Promise<readonly OwnSetting[]> => {
    reads.push(organization);
    return organization === "acme" ? [RULE] : [];
  };
  const redaction = new EventRedaction(true, settingsOf, () => 1_000_000);
  const own = await redaction.redactorFor("acme");
  for (let i = 0; i < 12_000; i++) await redaction.redactorFor(`org-${i}`);
  assert.equal(redaction.redactorFor("acme"), own);
  assert.equal(reads.filter((organization) => organization === "acme").length, 1);
});

test("rules that are read while the settings change are not kept", async () => {
  let settings: readonly OwnSetting[] = [];
  let goOn = (): void => {};
  const held = new Promise<void>((resolve) => (goOn = resolve));
  const settingsOf = async (): Promise<readonly OwnSetting[]> => {
    const read = settings;
    await held;
    return read;
  };
  const redaction = new EventRedaction(true, settingsOf, () => 1_000_000);
  const early = redaction.redactorFor("acme");
  settings = [RULE];
  redaction.forget("acme");
  goOn();
  const outdated = await early;
  assert.notEqual(await redaction.redactorFor("acme"), outdated);
});
