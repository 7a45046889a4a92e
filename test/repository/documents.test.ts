/** Holds the documents to the code and to each other: settings, actions, links. */
import assert from "node:assert/strict";
import { readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { settingRows } from "../../src/config.ts";
import { routes } from "../../src/routes.ts";
import { readSource } from "./source-files.ts";

const root = join(import.meta.dirname, "..", "..");
const folders = ["", "docs", "bench", "catalog", "deploy"];
const documents = folders.flatMap((folder) =>
  readdirSync(join(root, folder))
    .filter((name) => name.endsWith(".md"))
    .map((name) => join(folder, name)),
);

/** The lines of a section of a document, up to the next section of its level. */
function section(path: string, title: string): readonly string[] {
  const [, text] = readSource(path).split(`\n## ${title}\n`);
  assert.ok(text !== undefined, `${path} has no section "${title}"`);
  return (text.split("\n## ")[0] ?? "").split("\n");
}

/** The table of settings: one row for each variable, `| \`PORT\` | \`8080\` | meaning |`. */
const documented = section("docs/configuration.md", "Settings").flatMap((line) => {
  const [, variable, fallback = "", meaning = ""] =
    /^\| `([A-Z_]+)` \| (.*?) \| (.*) \|$/.exec(line) ?? [];
  return variable === undefined ? [] : [{ variable, fallback, meaning }];
});

/** A default as the code writes it: without backticks, sizes in bytes, nothing for words. */
function plainValue(cell: string): string {
  const code = /^`([^`]*)`$/.exec(cell)?.[1];
  const [, amount, unit] = /^(\d+) (KiB|MiB|GiB)$/.exec(code ?? cell) ?? [];
  const power = ["KiB", "MiB", "GiB"].indexOf(unit ?? "") + 1;
  if (amount !== undefined) return String(Number(amount) * 1024 ** power);
  return code ?? "";
}

test("the table of settings lists exactly the settings of the service", () => {
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

test("every setting of the table has a meaning", () => {
  assert.ok(documented.every(({ meaning }) => meaning.length > 10));
});

test("the systemd unit names existing settings", () => {
  const unit = readSource("deploy/signalbox.service");
  const lines = unit.split("\n").filter((line) => /^Environment=|^# REQUIRE_AUTH/.test(line));
  const names = lines.flatMap((line) => line.match(/\b[A-Z]+_[A-Z_]+\b|\bMETRICS\b/g) ?? []);
  const known = settingRows.map(({ variable }) => variable);
  assert.ok(names.includes("DATA_DIR") && names.includes("METRICS"));
  assert.deepEqual(
    names.filter((name) => !known.includes(name)),
    [],
  );
});

test("the API page names exactly the actions of the activity log", () => {
  const named = section("docs/api.md", "Who changed what")
    .filter((line) => line.startsWith("| "))
    .flatMap((line) => [...line.matchAll(/`([a-z]+(?:\.[a-z_]+)?)`/g)].map(([, action]) => action));
  const known = routes.flatMap(({ change }) =>
    change ? [change.action, ...Object.values(change.refusals ?? {})] : [],
  );
  assert.deepEqual(named.sort(), [...new Set(known)].sort());
});

/** The anchors of a document's headings, as GitHub makes them. */
function anchorsOf(path: string, marks = /^#+ (.*)$/gm): readonly string[] {
  const headings = readSource(path)
    .replaceAll(/^```[\s\S]*?^```/gm, "")
    .matchAll(marks);
  return [...headings].map(([, title = ""]) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

for (const path of documents) {
  test(`every link of ${path} leads to a file, a folder or a heading`, () => {
    const text = readSource(path).replaceAll(/^```[\s\S]*?^```/gm, "");
    const links = [...text.matchAll(/\]\(([^)\s]+)\)|(?:src|href)="([^"]+)"/g)]
      .map(([, link, source]) => link ?? source ?? "")
      .filter((link) => !/^https?:/.test(link));
    const broken = links.filter((link) => {
      const [file = "", anchor] = link.split("#");
      const target = file === "" ? path : join(dirname(path), file);
      if (statSync(join(root, target), { throwIfNoEntry: false }) === undefined) return true;
      return anchor !== undefined && !anchorsOf(target).includes(anchor);
    });
    assert.deepEqual(broken, []);
  });
}

test("the contents of a page name all of its sections in their order", () => {
  const withContents = documents.filter((path) => readSource(path).includes("**Contents**"));
  assert.ok(withContents.length >= 8);
  for (const path of withContents) {
    const [, contents = ""] = /\*\*Contents\*\*: ([^]*?)\n\n/.exec(readSource(path)) ?? [];
    const named = [...contents.matchAll(/\(#([^)]+)\)/g)].map(([, anchor]) => anchor);
    const sections = anchorsOf(path, /^## (.*)$/gm);
    assert.deepEqual(
      named.filter((anchor) => sections.includes(anchor ?? "")),
      sections,
      path,
    );
  }
});

test("npm start, npm test and the demo make the same build first, as the README says", () => {
  const { scripts } = JSON.parse(readSource("package.json")) as { scripts: Record<string, string> };
  const { prestart, pretest, predemo } = scripts;
  assert.deepEqual([pretest, predemo], [prestart, prestart]); // `.ci/run` tries `prestart` alone
  assert.match(prestart ?? "", /^npm run --silent build$/);
});

test("every page in docs is linked from the README", () => {
  const pages = documents.filter((path) => path.startsWith("docs"));
  assert.ok(pages.length >= 8);
  assert.deepEqual(
    pages.filter((path) => !readSource("README.md").includes(`](${path}`)),
    [],
  );
});

test("the README is under 200 lines, and each of its pictures at most 150 KiB", () => {
  assert.ok(readSource("README.md").split("\n").length - 1 < 200);
  const images = [...readSource("README.md").matchAll(/src="(.*?\.png)"/g)].map(
    ([, path]) => path ?? "",
  );
  assert.equal(images.length, 3);
  for (const path of images) {
    assert.ok(statSync(join(root, path)).size <= 150 * 1024, path);
  }
});
