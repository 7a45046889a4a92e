import assert from "node:assert/strict";
import { test } from "node:test";
import { settingRows } from "../src/config.ts";
import { misspelledSettings } from "../src/misspelled-settings.ts";

const MISSPELLED: readonly (readonly [given: string, meant: string])[] = [
  ["REQUIREAUTH", "REQUIRE_AUTH"],
  ["require_auth", "REQUIRE_AUTH"],
  ["REQUIRE_AUHT", "REQUIRE_AUTH"],
  ["SIGNALBOX_PORT", "PORT"],
  ["ROLE", "ROLES"],
  ["QUIRE_AUTH", "REQUIRE_AUTH"],
  ["REQUIRE_AUTHED", "REQUIRE_AUTH"],
  ["DATABASE_URI", "DATABASE_URL"],
  ["ADMIN_MAIL", "ADMIN_EMAIL"],
];

for (const [given, meant] of MISSPELLED) {
  test(`${given} is reported as a misspelling of ${meant}`, () => {
    const expected = [`${given} is not a setting: did you mean ${meant}?`];
    assert.deepEqual(misspelledSettings(["PATH", given]), expected);
  });
}

test("settings and variables of other programs are not reported", () => {
  const settings = settingRows.map(({ variable }) => variable);
  const others = [
    "HOME",
    "HOSTNAME",
    "POST",
    "SORT",
    "RULES",
    "EDITOR",
    "DEMOS",
    "UIRE_AUTH",
    "REQUIRE_AUTHORS",
    "x".repeat(5000),
  ];
  const ours = ["SIGNALBOX_URL", "SIGNALBOX_API_KEY", "SIGNALBOX_TOKEN"];
  assert.deepEqual(misspelledSettings([...settings, ...others, ...ours]), []);
});
