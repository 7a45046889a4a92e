/**
 * How soon the portal shows its content, in a real browser over the loopback interface; each visit
 * uses a new window without a cache. Visited are every page of a demo, made by the server; and the
 * overview and the audit page of an empty service and of one with a million events, made by the
 * server and, if credentials are required, by the pages' own modules. A bare page is visited in
 * turn with them, since milliseconds depend on the machine.
 */
import { existsSync, mkdirSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { chromium, type Browser, type Page } from "playwright-core";
import { startService } from "./contestants.ts";
import { writeHistory } from "./generate.ts";
import { table } from "./report.ts";
import { HISTORY_EVENTS } from "./scenarios.ts";
import { median } from "./statistics.ts";

const WANTED_MS = 300;
// A window that opens also loads the browser's own interface, on the same processors.
const WINDOW_MS = 1_500;
const USER = { email: "bench@example.com", password: "a password for the bench" };
const CLOSED = {
  REQUIRE_AUTH: "true",
  PUBLIC_SURFACE: "off",
  ADMIN_EMAIL: USER.email,
  ADMIN_PASSWORD: USER.password,
};
const LCP = `new Promise((resolve) => new PerformanceObserver((list) =>
  resolve(list.getEntries().at(-1).startTime)).observe({ type: "largest-contentful-paint", buffered: true }))`;
const BARE = "bare page";
const BARE_PAGE = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Bare</title>
  <h1>A bare page</h1><p>Nothing but what a browser itself needs to show some text.</p></html>`;
const DATA_PAGES = ["/", "/portal/audit"];
const PAGES = [
  ...DATA_PAGES,
  "/portal/policies",
  "/portal/policies/new",
  "/portal/rollouts",
  "/portal/fleet",
  "/portal/agents",
  "/portal/runtime?name=runner-us-3",
  "/portal/executor?name=agent-costs",
  "/portal/rule?id=no-shell-in-production",
  "/portal/catalog",
  "/portal/api",
  "/portal/sign-in",
];

/** A service whose pages are visited. */
interface Subject {
  readonly holds: string;
  readonly directory: string;
  readonly settings: Readonly<Record<string, string>>;
  readonly paths: readonly string[];
}

/** The session of the signed-in user, as the pages store it. */
interface Session {
  readonly token: string;
  readonly email: string;
}

/** The times of each measurement, in milliseconds. */
type Times = ReadonlyMap<string, readonly number[]>;

/**
 * Measures the pages and prints a table, or a message if no browser is installed.
 *
 * @param directory the services' data is stored here
 */
export async function measurePortal(directory: string, rounds: number): Promise<void> {
  const executablePath = process.env["CHROMIUM_PATH"] ?? "/usr/bin/chromium";
  if (!existsSync(executablePath)) {
    console.log(`\nThe portal is not measured: no browser at ${executablePath} (CHROMIUM_PATH)`);
    return;
  }
  const bare = createServer((_, response) => {
    response.setHeader("Content-Type", "text/html; charset=utf-8");
    response.end(BARE_PAGE);
  }).listen(0, "127.0.0.1");
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  try {
    const rows: string[][] = [];
    for (const subject of subjectsIn(directory)) {
      const bareUrl = `http://127.0.0.1:${(bare.address() as AddressInfo).port}/`;
      const times = await measureOne(browser, subject, bareUrl, rounds);
      const made = subject.settings === CLOSED ? "by modules" : "by the server";
      const bareMs = median(times.get(BARE) ?? []);
      for (const [what, took] of times) {
        const of = what === BARE ? ["", ""] : [made, subject.holds];
        rows.push([what, ...of, ...shown(what, median(took), bareMs)]);
      }
    }
    const columns = ["what", "made", "of", "median", "of a bare page's", ""];
    console.log(`\n### The portal\n\n${table(columns, rows)}\n`);
  } finally {
    await browser.close();
    bare.close();
  }
}

function subjectsIn(directory: string): readonly Subject[] {
  const [demo = "", empty = "", full = ""] = ["demo", "empty", "full"].map((name) => {
    const path = join(directory, name);
    mkdirSync(path);
    return path;
  });
  writeHistory(full, { events: HISTORY_EVENTS });
  const subjects = [{}, CLOSED].flatMap((settings) => [
    { holds: "no events", directory: empty, settings, paths: DATA_PAGES },
    { holds: "1,000,000 events", directory: full, settings, paths: DATA_PAGES },
  ]);
  return [
    { holds: "a demo", directory: demo, settings: { DEMO: "true" }, paths: PAGES },
    ...subjects,
  ];
}

/** Visits the bare page and the subject's, in turn; the first round is not counted. */
async function measureOne(
  browser: Browser,
  { directory, settings, paths }: Subject,
  bareUrl: string,
  rounds: number,
): Promise<Times> {
  const server = await startService({ directory, history: directory }, settings);
  const times = new Map<string, number[]>();
  try {
    const session = settings === CLOSED ? await signIn(server.url) : undefined;
    await openHistory(server.url, session);
    const visits = paths.map((path) => [`${path}, LCP`, server.url + path] as const);
    for (let round = -1; round < rounds; round++) {
      const keep = (what: string, ms: number): void => {
        if (round >= 0) times.set(what, [...(times.get(what) ?? []), ms]);
      };
      for (const [what, url] of [[BARE, bareUrl] as const, ...visits]) {
        await visit(browser, { url, session }, async (page) => {
          keep(what, (await page.evaluate(LCP)) as number);
          if (what === "/portal/audit, LCP") await useAudit(page, keep);
        });
      }
    }
  } finally {
    await server.stop();
  }
  return times;
}

/** Opens a page as a first visit, except for the session. */
async function visit(
  browser: Browser,
  { url, session }: { readonly url: string; readonly session: Session | undefined },
  act: (page: Page) => Promise<void>,
): Promise<void> {
  // The condition of each frame is evaluated in the page, which its policy forbids.
  const context = await browser.newContext({
    viewport: { width: 1280, height: 860 },
    bypassCSP: true,
  });
  const page = await context.newPage();
  await page.waitForTimeout(WINDOW_MS);
  if (session !== undefined) {
    const stored = JSON.stringify(JSON.stringify(session));
    await page.addInitScript(`localStorage.setItem("signalbox.session", ${stored})`);
  }
  await page.goto(url);
  await page.waitForLoadState("networkidle");
  await act(page);
  await context.close();
}

/** The most frequent actions on the audit page. */
async function useAudit(page: Page, keep: (what: string, ms: number) => void): Promise<void> {
  if ((await page.locator("#older").count()) === 0) return;
  // Checked at each frame: a waiting locator checks again only after half a second.
  const timed = async (what: string, act: Promise<unknown>, shows: string): Promise<void> => {
    const since = performance.now();
    await Promise.all([act, page.waitForFunction(shows, undefined, { polling: "raf" })]);
    keep(what, performance.now() - since);
  };
  const rows = "document.querySelectorAll('.row').length";
  await timed("older events", page.locator("#older").click(), `${rows} > 50`);
  const title = "document.getElementById('event-title')";
  await timed("an event opened", page.locator(".row").first().click(), title);
  await page.keyboard.press("Escape");
  const search = page.getByRole("searchbox").fill("kubectl");
  const chip = "document.querySelector('.chips b')?.textContent === 'kubectl'";
  await timed("a search, 120 ms of waiting included", search, chip);
}

async function signIn(url: string): Promise<Session> {
  const answer = await fetch(`${url}/api/v1/auth/login`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(USER),
  });
  const { token } = (await answer.json()) as { readonly token: string };
  return { token, email: USER.email };
}

/** Makes the service read its log before a browser, which has a time limit, waits for a page. */
async function openHistory(url: string, session: Session | undefined): Promise<void> {
  const headers = session === undefined ? {} : { Authorization: `Bearer ${session.token}` };
  const answer = await fetch(`${url}/api/v1/audit?limit=1`, { headers });
  await answer.arrayBuffer();
}

function shown(what: string, ms: number, bareMs: number): readonly string[] {
  if (!what.endsWith("LCP")) return [`${ms.toFixed(0)} ms`, "", ""];
  const verdict = ms < WANTED_MS ? "met" : "**missed**";
  return [
    `${ms.toFixed(0)} ms`,
    `${(ms / bareMs).toFixed(1)} times`,
    `< ${WANTED_MS} ms: ${verdict}`,
  ];
}
