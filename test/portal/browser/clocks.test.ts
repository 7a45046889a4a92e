/** Times on the audit page: parts of bars, wrong clocks, and lists that grow old. */
import assert from "node:assert/strict";
import { browserTest, copiedBy, visit } from "../../support/browser.ts";
import { start } from "../../support/start.ts";

const DAY_MS = 86_400_000;

browserTest("every bar leads to exactly the events that it counts", async (t) => {
  const app = await start(t);
  const at = (hours: number): string => new Date(app.now - hours * 3_600_000).toISOString();
  await app.post("/api/v1/audit", {
    events: [
      ...[23.9, 23.8, 5, 0.1].map((hours) => ({ command: "in", timestamp: at(hours) })),
      ...[24.1, 24.4].map((hours) => ({ command: "before", timestamp: at(hours) })),
    ],
  });
  for (const path of ["/", "/portal/audit?range=24h"]) {
    const { page } = await visit(t, app.url + path, { javaScriptEnabled: false });
    await page.getByText("Show as a table").click();
    const first = page.locator(".as-table tbody tr").last();
    assert.equal(await first.locator("td").last().innerText(), "2");
    await first.getByRole("link").click();
    await page.locator(".total", { hasText: "2 events" }).waitFor();
    assert.equal(await page.getByText("before", { exact: true }).count(), 0);
  }
});

browserTest("events with a wrong clock are named, and spoil neither axis nor order", async (t) => {
  const app = await start(t);
  const at = (ms: number): string => new Date(app.now + ms).toISOString();
  await app.post("/api/v1/audit", {
    events: [
      { command: "long ago", timestamp: "1999-01-01T00:00:00Z" },
      { command: "ahead", timestamp: at(3 * DAY_MS) },
      { command: "ahead too", timestamp: at(2 * DAY_MS) },
      ...Array.from({ length: 60 }, (_, i) => ({ command: `ls ${i}`, timestamp: at(-i * 60_000) })),
    ],
  });
  for (const javaScriptEnabled of [false, true]) {
    const { page } = await visit(t, `${app.url}/portal/audit`, { javaScriptEnabled });
    assert.equal(await page.locator(".row code").first().textContent(), "ls 0");
    assert.match(await page.locator(".total").innerText(), /61 events/);
    await page.getByText("1 earlier event not in the chart").waitFor();
    const bars = await page.locator("#audit-time .plot a title").allTextContents();
    assert.ok(bars.every((name) => name.includes("2026-11-20")) && bars.length > 0);
    await page.locator("#ahead", { hasText: "2 events dated in the future" }).waitFor();
    await page.getByRole("link", { name: "Show them" }).click();
    await page.locator(".row", { hasText: "ahead too" }).waitFor();
    await page.locator(".total", { hasText: "2 events" }).waitFor();
  }
});

browserTest("events of a clock that runs ahead do not enter a list that is followed", async (t) => {
  const app = await start(t);
  await app.post("/api/v1/audit", { command: "first" });
  const { page } = await visit(t, `${app.url}/portal/audit?live=true`);
  await page.locator("#live.live").waitFor();
  await page.locator("#audit-rows:not([aria-busy])").waitFor();
  const timestamp = new Date(app.now + DAY_MS).toISOString();
  await app.post("/api/v1/audit", { command: "ahead", timestamp });
  await app.post("/api/v1/audit", { command: "second" });
  await page.locator(".row", { hasText: "second" }).waitFor();
  await page.locator("#ahead", { hasText: "1 event dated in the future" }).waitFor();
  assert.deepEqual(await page.locator(".row code").allInnerTexts(), ["second", "first"]);
  // The chart follows each event, also the last one of a burst.
  await page.getByText("Show as a table").click();
  await page.locator("#bars tbody td", { hasText: /^2$/ }).waitFor();
});

browserTest("a list that is not followed says how old it is, and is read again", async (t) => {
  const app = await start(t);
  await app.post("/api/v1/audit", { command: "first" });
  const { page } = await visit(t, `${app.url}/portal/fleet`);
  await page.clock.install();
  await page.goto(`${app.url}/portal/audit`);
  const line = page.locator("#freshness");
  assert.match(await line.innerText(), /^as of 20:30:00 UTC Refresh$/);
  await app.post("/api/v1/audit", { command: "second" });
  await page.clock.fastForward(180_000);
  await line.getByText("3 min old").waitFor();
  await line.getByRole("link", { name: "Refresh" }).click();
  await page.locator(".row", { hasText: "second" }).waitFor();
  await line.getByText("old").waitFor({ state: "detached" });
  await page.goto(`${app.url}/portal/audit?to=2026-11-20`);
  assert.equal(await line.count(), 0);
});

browserTest("a copied link has fixed times, and titles name the view", async (t) => {
  const app = await start(t);
  await app.post("/api/v1/audit", { command: "first", executor: "ada" });
  const permissions = ["clipboard-read", "clipboard-write"];
  const { page } = await visit(t, `${app.url}/portal/audit?executor=ada&range=30d`, {
    permissions,
  });
  assert.equal(await page.title(), "Audit · ada · in the last 30 days - Signalbox");
  const link = new URL(await copiedBy(page, page.getByRole("button", { name: "Copy link" })));
  await page.getByText("Copied, with the times of this view").waitFor();
  assert.match(link.search, /^\?executor=ada&from=2026-10-21T20:30:00\.\d+Z&to=2026-11-20T20:30/);
  await page.goto(link.href);
  await page.locator(".total", { hasText: "1 event" }).waitFor();
  await page.getByRole("searchbox").fill("first");
  await page.locator(".chips", { hasText: "first" }).waitFor();
  assert.match(await page.title(), /^Audit · first · ada · from 2026/);
  await page.goto(`${app.url}/portal/executor?name=ada`);
  assert.equal(await page.title(), "ada - Signalbox");
});

browserTest("local time is chosen once, and shown everywhere; addresses stay in UTC", async (t) => {
  const app = await start(t);
  await app.post("/api/v1/audit", {
    events: [
      { command: "late", timestamp: "2026-11-20T19:00:00Z" },
      { command: "early", timestamp: "2026-11-20T18:15:00Z" },
    ],
  });
  // 5:30 ahead of UTC: the new day begins at 18:30 UTC.
  const visited = await visit(t, `${app.url}/portal/audit`, { timezoneId: "Asia/Kolkata" });
  const { page } = visited;
  const days = page.locator(".day h3");
  assert.deepEqual(await days.allInnerTexts(), ["Today · Friday, 20 Nov 2026 · UTC"]);
  await page.getByRole("button", { name: "Times: UTC" }).click();
  await page.getByText("Saturday, 21 Nov 2026 · local time").waitFor();
  assert.deepEqual(await page.locator(".row time").allInnerTexts(), ["00:30:00", "23:45:00"]);
  const row = page.locator(".row time").first();
  assert.equal(await row.getAttribute("datetime"), "2026-11-20T19:00:00.000Z");
  await visited.checkAccessibility();

  // The choice outlives the page, on all pages.
  await page.goto(`${app.url}/`);
  await page.getByText("Events by hour, local time").waitFor();
  await page.goto(`${app.url}/portal/audit`);
  await page.getByText("Saturday, 21 Nov 2026 · local time").waitFor();
  await page.locator(".row").first().click();
  await page.locator("#audit-event .when", { hasText: "2026-11-21 00:30:00 UTC+5:30" }).waitFor();
  await page.keyboard.press("Escape");

  // A time that a person types is local, replaces the quick range, and is a moment in UTC in the address.
  await page.getByRole("link", { name: "7 d", exact: true }).click();
  await page.waitForURL("**range=7d");
  await page.getByText("More filters").click();
  await page.getByLabel("From (local time)").fill("2026-11-21T00:00:00");
  await page.getByRole("button", { name: "Apply" }).click();
  await page.locator(".total", { hasText: "1 event" }).waitFor();
  assert.equal(new URL(page.url()).searchParams.get("from"), "2026-11-20T18:30:00Z");
  assert.equal(new URL(page.url()).searchParams.get("range"), null);
  assert.equal(await page.getByLabel("From (local time)").inputValue(), "2026-11-21T00:00");
  await page.getByRole("link", { name: "since 2026-11-21 00:00:00 UTC+5:30" }).waitFor();

  await page.getByRole("button", { name: "Times: local" }).click();
  await page.getByText("20 Nov 2026 · UTC").waitFor();
  assert.equal(await page.getByLabel("From (UTC)").inputValue(), "2026-11-20T18:30");
});
