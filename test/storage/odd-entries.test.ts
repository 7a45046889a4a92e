/** Symbolic links inside a data directory, and a directory that other users may enter. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmod, mkdir, mkdtemp, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { run } from "../support/command-line.ts";
import { App, start } from "../support/start.ts";

async function folderOf(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "signalbox-links-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** A directory that a service has used, and a directory outside of it. */
async function usedDirectory(t: TestContext): Promise<{ root: string; outside: string }> {
  const app = await start(t);
  await app.post("/api/public/policies", { version: "v1", yaml: "a: 1" });
  await app.post("/api/public/audit", { command: "ls" });
  await app.close();
  return { root: app.dataDir, outside: await folderOf(t) };
}

const OWN = "organizations/default";

for (const entry of [
  "secret",
  "format.json",
  "organizations",
  OWN,
  `${OWN}/organization.json`,
  `${OWN}/audit`,
  `${OWN}/audit/000000000001.jsonl`,
  `${OWN}/policies`,
  `${OWN}/policies/index.json`,
]) {
  test(`a link in the place of ${entry} is refused by server and backup, and found by verify`, async (t) => {
    const { root, outside } = await usedDirectory(t);
    await rename(join(root, entry), join(outside, "moved"));
    await symlink(join(outside, "moved"), join(root, entry));
    const refusal = new RegExp(`${entry}" is a symbolic link, which a data directory may not hold`);
    await assert.rejects(new App(root, {}).open(), refusal);
    const backup = await run(["backup", root, join(outside, "backup")]);
    assert.equal(backup.code, 1);
    assert.match(backup.error, refusal);
    const verified = await run(["verify", root]);
    assert.equal(verified.code, 1);
    assert.match(
      verified.out,
      new RegExp(`^${entry}: is a symbolic link, and is not followed$`, "m"),
    );
  });
}

test("a lock and a new organization that are links are refused, by their escaped names", async (t) => {
  const { root, outside } = await usedDirectory(t);
  for (const name of ["lock", "organizations/acme", "organizations/\u001b[2J"]) {
    await symlink(outside, join(root, name));
    const escaped = name.replace("\u001b[", "\\\\u001b\\[");
    await assert.rejects(new App(root, {}).open(), new RegExp(`${escaped}" is a symbolic link`));
    await rm(join(root, name));
  }
  const app = new App(root, {});
  await app.open();
  await app.close();
});

test("a link that is made while the server runs is refused by a backup", async (t) => {
  const app = await start(t);
  const folder = await folderOf(t);
  await symlink(folder, join(app.dataDir, "organizations", "acme"));
  const { code, error } = await run(["backup", app.dataDir, join(folder, "backup")]);
  assert.equal(code, 1);
  assert.match(error, /organizations\/acme" is a symbolic link/);
});

for (const entry of [
  "secret",
  "catalog.json",
  `${OWN}/users.json`,
  `${OWN}/audit/000000000001.jsonl`,
  `${OWN}/policies/index.json`,
]) {
  test(`a pipe in the place of ${entry} is refused by server and backup, and not waited for by verify`, async (t) => {
    const { root, outside } = await usedDirectory(t);
    await rm(join(root, entry), { recursive: true, force: true });
    execFileSync("mkfifo", ["-m", "600", join(root, entry)]);
    const refusal = new RegExp(`${entry}" is a pipe, which a data directory may not hold: remove`);
    await assert.rejects(new App(root, {}).open(), refusal);
    assert.match((await run(["backup", root, join(outside, "backup")])).error, refusal);
    const verified = await run(["verify", root]);
    assert.equal(verified.code, 1);
    assert.match(verified.out, new RegExp(`^${entry}: is a pipe, and is not read$`, "m"));
  });
}

for (const name of ["format.json", "lock"]) {
  test(`verify does not wait for a pipe in the place of ${name}`, async (t) => {
    const { root } = await usedDirectory(t);
    await rm(join(root, name), { force: true });
    execFileSync("mkfifo", ["-m", "600", join(root, name)]);
    const { code, error } = await run(["verify", root]);
    assert.equal(code, 1);
    assert.match(error, new RegExp(`${name}" is a pipe\\n$`));
  });
}

test("verify does not read the target of a link", async (t) => {
  const { root, outside } = await usedDirectory(t);
  await writeFile(join(outside, "private"), "");
  await symlink(outside, join(root, "organizations", "acme"));
  const { out } = await run(["verify", root]);
  const found = "organizations/acme: is a symbolic link, and is not followed";
  assert.deepEqual(out.split("\n").slice(0, -2), [found]);
});

test("the data directory itself may be a link", async (t) => {
  const folder = await folderOf(t);
  await mkdir(join(folder, "real"), { mode: 0o700 });
  await symlink(join(folder, "real"), join(folder, "link"));
  const app = new App(join(folder, "link"), {});
  await app.open();
  assert.equal((await app.post("/api/public/audit", { command: "ls" })).status, 202);
  await app.close();
  const { code } = await run(["backup", join(folder, "link"), join(folder, "backup")]);
  assert.equal(code, 0);
  assert.equal((await run(["verify", join(folder, "link")])).code, 0);
});

for (const [mode, isOpen] of [
  [0o700, false],
  [0o710, true],
  [0o755, true],
  [0o777, true],
] as const) {
  test(`a data directory of mode ${mode.toString(8)} causes ${isOpen ? "a" : "no"} warning`, async (t) => {
    const { root } = await usedDirectory(t);
    await chmod(root, mode);
    const lines: string[] = [];
    const app = new App(root, { logLevel: "warn", writeLog: (line) => void lines.push(line) });
    await app.open();
    await app.close();
    const found = lines.filter((line) => line.includes("chmod 700"));
    assert.equal(found.length, isOpen ? 1 : 0);
    if (isOpen) assert.match(found[0] ?? "", new RegExp(`"mode":"0${mode.toString(8)}"`));
  });
}

test("verify escapes the name of a file, in text and in JSON", async (t) => {
  const { root } = await usedDirectory(t);
  await writeFile(join(root, "\u001b[31mred\u009b\n"), "");
  const text = (await run(["verify", root])).out;
  assert.match(text, /^\\u001b\[31mred\\u009b\\u000a: is not a file of Signalbox$/m);
  const json = (await run(["verify", root, "--json"])).out;
  // oxlint-disable-next-line no-control-regex -- none of these may reach a terminal
  assert.doesNotMatch(json.trimEnd(), /[\u0000-\u001f\u007f-\u009f]/);
  const { problems } = JSON.parse(json) as { problems: { file: string }[] };
  assert.deepEqual(
    problems.map(({ file }) => file),
    ["\u001b[31mred\u009b\n"],
  );
});
