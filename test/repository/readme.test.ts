import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { settingRows } from "../../src/config.ts";
import { routes } from "../../src/routes.ts";

const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8");

/** The lines of a section, to the next one of its level. */
function section(title: string): readonly string[] {
  const [, text = ""] = readme.split(`\n## ${title}\n`);
  return (text.split("\n## ")[0] ?? "").split("\n");
}

/** The table of settings: one row a variable, `| \`PORT\` | \`8080\` | meaning |`. */
const documented = section("Settings").flatMap((line) => {
  const [, variable, fallback = ""] = /^\| `([A-Z_]+)` \| (.*?) \|/.exec(line) ?? [];
  return variable === undefined ? [] : [{ variable, fallback }];
});

/** A default as the code writes it: without backticks, sizes in bytes, nothing for words. */
function plainValue(cell: string): string {
  const code = /^`([^`]*)`$/.exec(cell)?.[1];
  const [, amount, unit] = /^(\d+) (KiB|MiB|GiB)$/.exec(code ?? cell) ?? [];
  const power = ["KiB", "MiB", "GiB"].indexOf(unit ?? "") + 1;
  if (amount !== undefined) return String(Number(amount) * 1024 ** power);
  return code ?? "";
}

test("the table of settings lists exactly those that the service reads", () => {
  const names = documented.map(({ variable }) => variable).sort();
  assert.deepEqual(names, settingRows.map(({ variable }) => variable).sort());
});

test("the table of settings gives each default as the service has it", () => {
  const defaults = Object.fromEntries(
    documented.map(({ variable, fallback }) => [variable, plainValue(fallback)]),
  );
  const own = settingRows.map(({ variable, fallback }) => [variable, fallback ?? ""]);
  assert.deepEqual(defaults, Object.fromEntries(own));
});

test("every file and folder that the README links to is there", () => {
  const links = [...readme.matchAll(/\]\(([^)#:]+)\)/g)].map(([, path]) => path ?? "");
  const missing = links.filter((path) => {
    try {
      readFileSync(new URL(`../../${path}`, import.meta.url));
      return false;
    } catch (error) {
      return (error as NodeJS.ErrnoException).code !== "EISDIR";
    }
  });
  assert.deepEqual(missing, []);
});

test("the unit for systemd names settings that there are", () => {
  const unit = readFileSync(new URL("../../deploy/signalbox.service", import.meta.url), "utf8");
  const lines = unit.split("\n").filter((line) => /^Environment=|^# REQUIRE_AUTH/.test(line));
  const names = lines.flatMap((line) => line.match(/\b[A-Z]+_[A-Z_]+\b|\bMETRICS\b/g) ?? []);
  const known = settingRows.map(({ variable }) => variable);
  assert.ok(names.includes("DATA_DIR") && names.includes("METRICS"));
  assert.deepEqual(
    names.filter((name) => !known.includes(name)),
    [],
  );
});

test("the README names exactly the actions that the activity log knows", () => {
  const named = section("Who changed what")
    .filter((line) => line.startsWith("| "))
    .flatMap((line) => [...line.matchAll(/`([a-z]+(?:\.[a-z]+)?)`/g)].map(([, action]) => action));
  const known = routes.flatMap(({ change }) =>
    change ? [change.action, ...Object.values(change.refusals ?? {})] : [],
  );
  assert.deepEqual(named.sort(), [...new Set(known)].sort());
});
