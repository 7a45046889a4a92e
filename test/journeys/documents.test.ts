/** Runs the shell sessions of the documents as they are printed, from an empty folder. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { startCuttingProxy } from "../support/cutting-proxy.ts";
import { start } from "../support/start.ts";

type App = Awaited<ReturnType<typeof start>>;

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");

/** An empty folder, removed when the test ends. */
function emptyFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-session-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** The session after a mark in a document. */
function sessionIn(path: string, mark = "session"): string {
  const [, session] =
    new RegExp(`<!-- ${mark} -->\\n\`{3}sh\\n([^]*?)\`{3}`).exec(read(path)) ?? [];
  assert.ok(session !== undefined, `${path} has no ${mark}`);
  return session;
}

/** Runs lines in a shell; a failing command fails the test. Returns both outputs. */
async function runLines(lines: string, cwd: string, env: Readonly<Record<string, string>>) {
  return promisify(execFile)("bash", ["-euo", "pipefail", "-c", lines], {
    cwd,
    env: { ...process.env, ...env },
  });
}

/** Runs the session of a document against a server. */
async function runSession(path: string, app: App, cwd: string): Promise<string> {
  return (await runLines(sessionIn(path), cwd, { SIGNALBOX: app.url })).stdout;
}

test("the session of the README runs as it is printed", async (t) => {
  const stdout = await runSession("README.md", await start(t), emptyFolder(t));
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

test("the README's session of the guard denies a push, with the server and without it", async (t) => {
  const app = await start(t);
  const port = () => Number(new URL(app.url).port);
  const proxy = await startCuttingProxy(t, port());
  const home = emptyFolder(t);
  const env = {
    ...{ HOME: home, XDG_STATE_HOME: home, TMPDIR: home },
    SIGNALBOX: `http://127.0.0.1:${proxy.port}`,
  };
  const clone = fileURLToPath(new URL("../..", import.meta.url));
  const session = sessionIn("README.md", "session: guard");
  const { stdout, stderr } = await runLines(session, clone, env);
  assert.match(stdout, /settings\.json: changed\n/);
  assert.match(stdout, /ok +claude-code: hook in .* answers\n/);
  assert.ok(!/^bad /m.test(stdout), stdout);
  assert.match(stdout, /^exit code 2$/m);
  assert.match(stderr, /^Denied by Signalbox: rule no-push: A person pushes$/m);
  assert.match(stdout, /"command":"npm test && git push".*"policy_decision":"DENIED"/);
  assert.match(stdout, /"runtimes":\[\{"name":"[^"]+".*"policy_version":"agents-1"/);

  await app.close();
  const names = session
    .split("\n")
    .filter((line) => /^(?:CLONE=|signalbox\(|export |URL=|PUSH=)/.test(line));
  const inTheSameShell = (lines: string) => runLines([...names, lines].join("\n"), clone, env);
  const away = await inTheSameShell(sessionIn("README.md", "session: guard away"));
  assert.equal(away.stdout, "exit code 2\n");
  assert.match(away.stderr, /^Denied by Signalbox: rule no-push: A person pushes$/m);

  await app.open();
  proxy.leadTo(port());
  await inTheSameShell("signalbox guard sync");
  assert.equal((await app.get("/api/public/audit?q=git%20push")).body.total, 2);
});

test("the session of docs/runtimes.md signs in, creates a key and reports with it", async (t) => {
  const app = await start(t, {
    requireAuth: true,
    roles: "enforced",
    publicSurface: "off",
    adminEmail: "ada@example.com",
    adminPassword: "correct horse battery",
  });
  const stdout = await runSession("docs/runtimes.md", app, emptyFolder(t));
  assert.match(stdout, /"version":"laptops-1".*"active":true/);
  assert.match(stdout, /"id":"laptop-ada-1".*"policy_decision":"ALLOWED"/);
  assert.match(stdout, /\{"status":"ok","policy_version":"laptops-1"\}$/);
});

test("the session of docs/api.md reads, exports, counts and follows the audit", async (t) => {
  const app = await start(t);
  const folder = emptyFolder(t);
  await app.post("/api/public/audit", { command: "kubectl delete pod web-0", decision: "denied" });
  const stdout = await runSession("docs/api.md", app, folder);
  assert.match(stdout, /"total":1/);
  assert.match(readFileSync(join(folder, "denied.csv"), "utf8"), /kubectl delete pod web-0/);
  assert.match(stdout, /"interval":"1h","buckets":\[/);
  assert.match(stdout, /"url":"\/api\/public\/audit\/export-tickets\//);
});

test("the session of docs/operations.md forwards what was denied since it last ran", async (t) => {
  const app = await start(t);
  const folder = emptyFolder(t);
  const report = (command: string, decision: string) =>
    app.post("/api/public/audit", { command, decision });
  await report("git push", "denied");
  await runSession("docs/operations.md", app, folder);
  await report("echo  'a \\b'", "denied");
  await report("ls", "allowed");
  await runSession("docs/operations.md", app, folder);
  await runSession("docs/operations.md", app, folder);
  const lines = readFileSync(join(folder, "denied.ndjson"), "utf8").split("\n");
  assert.equal(lines.length, 2);
  const event = JSON.parse(lines[0] ?? "") as { command: string };
  assert.equal(event.command, "echo  'a \\b'");
});

test("the session of docs/policies.md checks, tries and publishes the page's first policy", async (t) => {
  const folder = emptyFolder(t);
  const [, policy = ""] = /```yaml\n([\s\S]*?)```/.exec(read("docs/policies.md")) ?? [];
  writeFileSync(join(folder, "policy.yaml"), policy);
  const stdout = await runSession("docs/policies.md", await start(t), folder);
  assert.match(stdout, /"valid":true/);
  assert.match(stdout, /"decision":"ALLOWED","rule":"agents-read"/);
  assert.match(stdout, /"decision":"DENIED","rule":"agents-never-push"/);
  assert.match(stdout, /"version":"agents-read".*"active":true/);
});

test("the session of docs/rollouts.md gives a version to the runtimes of its first stage", async (t) => {
  const stdout = await runSession("docs/rollouts.md", await start(t), emptyFolder(t));
  assert.match(stdout, /"version":"narrow".*"state":"running"/);
  assert.match(stdout, /"status":"ok","policy_version":"narrow"/);
  const fetched = stdout.slice(stdout.indexOf('"status":"ok"'));
  assert.match(fetched, /"version":"narrow".*"version":"wide"/);
});

test("no two pages publish a version of the same name, so one page can be followed after another", () => {
  const folder = fileURLToPath(new URL("../../docs", import.meta.url));
  const pages = readdirSync(folder).filter((name) => name.endsWith(".md"));
  const published = ["README.md", ...pages.map((name) => `docs/${name}`)].flatMap((path) => {
    const sessions = read(path).match(/<!-- session.* -->\n`{3}sh\n[^]*?`{3}/g) ?? [];
    const names = sessions.join("").matchAll(/(?:^ +|\{ )"version": "([^"]+)"/gm);
    return [...new Set([...names].map(([, name]) => name))];
  });
  assert.ok(published.length >= 6);
  assert.deepEqual(published, [...new Set(published)]);
});
