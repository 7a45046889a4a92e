/**
 * How soon the portal shows something, in a real browser over the loopback interface: the audit page
 * of a service that holds nothing beside that of one with a million events, made by the server and,
 * where credentials are demanded, by the page's own modules. Milliseconds depend on the machine.
 */
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { chromium, type Browser, type Page } from "playwright-core";
import { startService } from "./contestants.ts";
import { writeHistory } from "./generate.ts";
import { table } from "./report.ts";
import { HISTORY_EVENTS } from "./scenarios.ts";
import { median } from "./statistics.ts";

const WANTED_MS = 300;
const USER = { email: "bench@example.com", password: "a password for the bench" };
const CLOSED = {
  REQUIRE_AUTH: "true",
  PUBLIC_SURFACE: "off",
  ADMIN_EMAIL: USER.email,
  ADMIN_PASSWORD: USER.password,
};
const LCP = `new Promise((resolve) => new PerformanceObserver((list) =>
  resolve(list.getEntries().at(-1).startTime)).observe({ type: "largest-contentful-paint", buffered: true }))`;

/** What one visit took, in milliseconds. */
type Times = Readonly<Record<string, number>>;

/**
 * Measures the pages and prints a table; where no browser is installed it says so.
 *
 * @param directory where the services' data goes
 */
export async function measurePortal(directory: string, rounds: number): Promise<void> {
  const executablePath = process.env["CHROMIUM_PATH"] ?? "/usr/bin/chromium";
  if (!existsSync(executablePath)) {
    console.log(`\nThe portal is not measured: no browser at ${executablePath} (CHROMIUM_PATH)`);
    return;
  }
  const [empty, full] = [join(directory, "empty"), join(directory, "full")];
  for (const one of [empty, full]) mkdirSync(one);
  writeHistory(full, { events: HISTORY_EVENTS });
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  try {
    const rows: string[][] = [];
    for (const [mode, settings] of [
      ["by the server", {}],
      ["by modules", CLOSED],
    ] as const) {
      for (const [name, history] of [
        ["no events", empty],
        ["1,000,000 events", full],
      ] as const) {
        const times = await measureOne(browser, history, settings, rounds);
        for (const [what, took] of times) rows.push([what, mode, name, ...shown(what, took)]);
      }
    }
    console.log(`\n### The portal\n\n${table(["what", "made", "of", "median", ""], rows)}\n`);
  } finally {
    await browser.close();
  }
}

async function measureOne(
  browser: Browser,
  history: string,
  settings: Readonly<Record<string, string>>,
  rounds: number,
): Promise<ReadonlyMap<string, readonly number[]>> {
  const server = await startService({ directory: history, history }, settings);
  const times = new Map<string, number[]>();
  try {
    const session = "REQUIRE_AUTH" in settings ? await signIn(server.url) : undefined;
    for (let round = -1; round < rounds; round++) {
      const context = await browser.newContext({ viewport: { width: 1280, height: 860 } });
      const page = await context.newPage();
      if (session !== undefined) {
        const keep = `sessionStorage.setItem("signalbox.session", ${JSON.stringify(session)})`;
        await page.addInitScript(keep);
      }
      const took = await visit(page, server.url);
      await context.close();
      if (round < 0) continue; // what is compiled and cached once is no cost of a page
      for (const [what, ms] of Object.entries(took))
        times.set(what, [...(times.get(what) ?? []), ms]);
    }
  } finally {
    await server.stop();
  }
  return times;
}

async function visit(page: Page, url: string): Promise<Times> {
  const times: Record<string, number> = {};
  for (const [what, path] of [
    ["overview, LCP", "/"],
    ["audit, LCP", "/portal/audit"],
  ] as const) {
    await page.goto(url + path);
    await page.waitForLoadState("networkidle");
    times[what] = (await page.evaluate(LCP)) as number;
  }
  if ((await page.locator(".row").count()) === 0) return times;
  // Asked for at each frame: a locator that waits looks again after half a second only.
  const timed = async (what: string, act: Promise<unknown>, shows: string): Promise<void> => {
    const since = performance.now();
    await Promise.all([act, page.waitForFunction(shows, undefined, { polling: "raf" })]);
    times[what] = performance.now() - since;
  };
  const rows = "document.querySelectorAll('.row').length";
  await timed("older events", page.locator("#older").click(), `${rows} > 50`);
  const title = "document.getElementById('event-title')";
  await timed("an event opened", page.locator(".row").first().click(), title);
  await page.keyboard.press("Escape");
  const search = page.getByRole("searchbox").fill("kubectl");
  const chip = "document.querySelector('.chips b')?.textContent === 'kubectl'";
  await timed("a search, 120 ms of waiting included", search, chip);
  return times;
}

async function signIn(url: string): Promise<string> {
  const answer = await fetch(`${url}/api/v1/auth/login`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(USER),
  });
  const { token } = (await answer.json()) as { readonly token: string };
  return JSON.stringify({ token, email: USER.email });
}

function shown(what: string, took: readonly number[]): readonly string[] {
  const ms = median(took);
  const verdict = ms < WANTED_MS ? "met" : "**missed**";
  return [`${ms.toFixed(0)} ms`, what.endsWith("LCP") ? `< ${WANTED_MS} ms: ${verdict}` : ""];
}
