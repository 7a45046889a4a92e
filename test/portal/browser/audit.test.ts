import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after } from "node:test";
import type { Page } from "playwright-core";
import {
  browserTest,
  checkLooks,
  copiedBy,
  holdAnswers,
  MARKUP,
  visit,
} from "../../support/browser.ts";
import { ADMIN, ADMIN_SETTINGS, start } from "../../support/start.ts";

const MINUTE_MS = 60_000;
const FIRST_EVENTS = 30;
/** The button of a running tail. */
const LIVE = "#live.live[aria-pressed=true]";

const app = await start({ after });
const at = (minutes: number): string => new Date(app.now - minutes * MINUTE_MS).toISOString();
await app.post("/api/v1/audit", {
  events: [
    ...Array.from({ length: 120 }, (_, i) => ({
      ...{ id: `n${i}`, command: `git fetch ${i}`, executor: "ada", policy_decision: "ALLOWED" },
      timestamp: at(10 + i * 20),
    })),
    {
      ...{ id: "bad", command: `echo ${MARKUP}`, executor: MARKUP, policy_decision: "DENIED" },
      ...{ reason: MARKUP, resource: MARKUP, consumer: "ai", timestamp: at(5), duration_ms: 12345 },
    },
  ],
});
const url = `${app.url}/portal/audit`;

/** Waits until the live tail has begun and the list was read again. */
async function followed(page: Page): Promise<void> {
  await page.locator(LIVE).waitFor();
  await page.locator("#audit-rows:not([aria-busy])").waitFor();
}

/** Waits until the page shows a number of events. */
function total(page: Page, words: string): Promise<void> {
  return page.locator(".total", { hasText: words }).waitFor();
}

const search = (page: Page): string => decodeURIComponent(new URL(page.url()).search);

browserTest("search, opening, paging and export work without JavaScript", async (t) => {
  const { page } = await visit(t, url, { javaScriptEnabled: false });
  await page.getByRole("searchbox").fill("git fetch");
  await page.getByRole("button", { name: "Search" }).click();
  await total(page, "120 events");
  await page.getByRole("link", { name: "Load older events" }).click();
  await page.locator("#row-n50 .row").click();
  assert.match(await page.locator("#audit-event").innerText(), /git fetch 50/);
  await page.getByRole("link", { name: "Drop text git fetch" }).click();
  await page.getByRole("searchbox").fill('executor:ada "fetch 11"');
  await page.getByRole("button", { name: "Search" }).click();
  await total(page, "11 events");
  await page.getByRole("link", { name: "Drop executor ada" }).waitFor();
  await page.getByRole("searchbox").fill("who:ada");
  await page.getByRole("button", { name: "Search" }).click();
  await page.getByText("There is no field “who”").waitFor();
  await page.getByRole("link", { name: "All", exact: true }).click();
  await page.getByText("Export", { exact: true }).click();
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("link", { name: /^CSV/ }).click(),
  ]);
  assert.match(download.suggestedFilename(), /^audit-.*\.csv$/);
});

browserTest("fields in the search box become filters, and the address says them", async (t) => {
  const { page } = await visit(t, url);
  const box = page.getByRole("searchbox");
  await box.fill('executor:ada -provider:git decision:allowed "fetch 11"');
  await box.press("Enter");
  await page.getByText("Nothing matches").waitFor();
  assert.equal(search(page), "?q=fetch 11&decision=ALLOWED&executor=ada&not_provider=git");
  assert.equal(await box.inputValue(), "fetch 11");
  assert.equal(await page.locator("#audit-decision").inputValue(), "ALLOWED");
  await page.getByRole("link", { name: "Drop not provider git" }).first().click();
  await total(page, "11 events");
  assert.equal(search(page), "?q=fetch 11&decision=ALLOWED&executor=ada");
  await box.fill("who:ada");
  await box.press("Enter");
  const message = await page.evaluate("document.getElementById('audit-q').validationMessage");

  assert.match(String(message), /There is no field “who”/);
  await box.fill('reason:"script"');
  await box.press("Enter");
  await page.getByText("Nothing matches").waitFor();
  await page.locator("#audit-decision").selectOption("Any decision");
  await page.locator(".chips", { hasText: "Decision" }).waitFor({ state: "detached" });
  await page.getByRole("link", { name: "Drop executor ada" }).first().click();
  await total(page, "1 event of");
  assert.equal(search(page), "?reason=script");
});

browserTest("facets count the shown events, and their links add and drop filters", async (t) => {
  const { page } = await visit(t, url, { viewport: { width: 1400, height: 860 } });
  const facets = page.locator("#audit-facets");
  await facets.getByRole("link", { name: "Denied 1" }).click();
  await total(page, "1 event of");
  assert.equal(search(page), "?decision=DENIED");
  await facets.getByRole("link", { name: "Allowed" }).waitFor({ state: "detached" });
  await facets.locator("[aria-current]", { hasText: "Denied" }).click();
  await total(page, "121 events");
  await facets.getByRole("link", { name: "ada 120" }).waitFor();
  await page.getByText("More filters").click();
  assert.equal(await page.locator("#values-executor [value=ada]").count(), 1);
});

browserTest("denials are counted by rule, and a rule filters the list", async (t) => {
  const own = await start(t);
  const yaml = `schema: signalbox/policy/v1
rules:
  - id: no-push
    effect: deny
    reason: Pipelines push
    match: { commands: [{ prefix: git push }] }
`;
  await own.post("/api/v1/policies", { version: "v1", yaml });
  const denied = (command: string, reason: string) => ({
    ...{ command, reason, policy_decision: "DENIED", policy: "v1" },
  });
  await own.post("/api/v1/audit", {
    events: [
      denied("git push", "Pipelines push"),
      denied("git push -f", "rule no-push: Pipelines push"),
      denied("rm -rf /", "rule no-rm"),
      denied("ls", "because"),
    ],
  });
  const visited = await visit(t, `${own.url}/portal/audit`, {
    viewport: { width: 1400, height: 860 },
  });
  const { page } = visited;
  const rules = page.locator("#audit-facets").getByRole("region", { name: "Rule", exact: true });
  await rules.getByRole("link", { name: "no-rm 1" }).waitFor();
  await visited.checkAccessibility();
  assert.equal(await rules.getByRole("link").count(), 2);
  await rules.getByRole("link", { name: "no-push 2" }).click();
  await total(page, "2 events");
  assert.equal(search(page), "?reason=Pipelines push");
  await rules.locator("[aria-current]", { hasText: "no-push" }).click();
  await total(page, "4 events");
});

browserTest(
  "typing, choosing, dropping a filter and going back change the list and the address",
  async (t) => {
    const { page } = await visit(t, url);
    const providers = page.locator("#audit-providers option");
    assert.equal(await page.locator("#audit-provider").getAttribute("list"), "audit-providers");
    assert.equal(await providers.and(page.locator("[value=kubernetes]")).count(), 1);
    await page.keyboard.press("/");
    await page.keyboard.type("fetch 11");
    await total(page, "11 events");
    assert.equal(search(page), "?q=fetch 11");
    await page.locator("#audit-decision").selectOption("Denied");
    await page.getByText("Nothing matches").waitFor();
    assert.equal(search(page), "?q=fetch 11&decision=DENIED");
    await page.getByRole("link", { name: "Drop text fetch 11" }).first().click();
    await total(page, "1 event");
    assert.equal(await page.getByRole("searchbox").inputValue(), "");
    assert.equal(await page.locator(".row code").textContent(), `echo ${MARKUP}`);
    await page.goBack();
    await page.getByText("Nothing matches").waitFor();
    await page.locator("#audit-decision").selectOption("Any decision");
    await total(page, "11 events");
    assert.equal(await page.evaluate("typeof window.broken"), "undefined");
  },
);

browserTest("a filter that is chosen while another view is loaded joins that view", async (t) => {
  const { page } = await visit(t, `${url}?q=echo`);
  const list = await holdAnswers(page, "**/api/v1/audit?**");
  await page.getByRole("link", { name: "24 h", exact: true }).click();
  await list.made;
  await page.locator("#audit-decision").selectOption("Denied");
  assert.equal(search(page), "?q=echo&decision=DENIED&range=24h");
  list.release();
  await total(page, "1 event in the last 24 hours");
});

browserTest("a link that is clicked while another view is loaded joins that view", async (t) => {
  const { page } = await visit(t, `${url}?q=fetch+1`, { viewport: { width: 1400, height: 860 } });
  await page.locator("#audit-facets").getByRole("link", { name: "ada" }).waitFor();
  const list = await holdAnswers(page, "**/api/v1/audit?**");
  await page.getByRole("link", { name: "24 h", exact: true }).click();
  await list.made;
  await page.locator("#audit-facets").getByRole("link", { name: "ada" }).click();
  assert.equal(search(page), "?q=fetch 1&executor=ada&range=24h");
  await page.getByRole("link", { name: "Drop text fetch 1" }).click();
  assert.equal(search(page), "?executor=ada&range=24h");
  await page.locator(".row").first().click();
  assert.equal(search(page), "?executor=ada&range=24h&event=n1");
  await page.getByRole("link", { name: "All", exact: true }).click();
  assert.equal(search(page), "?executor=ada");
  list.release();
  await total(page, "120 events of all time");
});

browserTest("going back while another view is loaded shows the list of the address", async (t) => {
  const { page } = await visit(t, `${url}?q=echo`);
  const list = await holdAnswers(page, "**/api/v1/audit?**");
  await page.getByRole("link", { name: "Drop text echo" }).click();
  await list.made;
  await page.goBack();
  list.release();
  await page.locator("#audit-rows:not([aria-busy])").waitFor();
  await total(page, "1 event of all time");
  assert.equal(await page.locator(".row").count(), 1);
});

browserTest("a filter that is chosen while only the chart is loaded keeps the range", async (t) => {
  const { page } = await visit(t, `${url}?range=24h`);
  const histogram = await holdAnswers(page, "**/audit/histogram?**");
  await page.getByRole("link", { name: "Yesterday" }).click();
  await total(page, "events from 2026-11-19");
  await page.locator("#audit-decision").selectOption("Denied");
  assert.equal(search(page), "?decision=DENIED&from=2026-11-19T00:00:00Z&to=2026-11-20T00:00:00Z");
  histogram.release();
});

browserTest("the chart zooms in by a drag or a click, and out again", async (t) => {
  const { page } = await visit(t, `${url}?range=24h`);
  await page.waitForLoadState("networkidle");
  const box = await page.locator("#audit-time .plot").boundingBox();
  assert.ok(box);
  await page.mouse.move(box.x + box.width / 2, box.y + 40);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width - 1, box.y + 50, { steps: 4 });
  await page.mouse.up();
  await page.locator(".ranges", { hasText: "from 2026-11-20" }).waitFor();
  // Both ends are the edges of bars.
  assert.match(search(page), /^\?from=2026-11-20T0[89]:[03]0&to=2026-11-20T2\d:[03]0$/);
  const before = search(page);
  await page.locator("#audit-time .plot a").last().click();
  await page.waitForURL((to) => decodeURIComponent(to.search) !== before);
  await page.getByRole("link", { name: "Zoom out" }).click();
  await page.getByRole("link", { name: "All", exact: true }).click();
  await total(page, "121 events");
  assert.equal(search(page), "");
  await page.getByRole("link", { name: "Zoom out" }).waitFor({ state: "detached" });
});

browserTest(
  "the keyboard walks the list, opens and closes events and loads older ones",
  async (t) => {
    const { page } = await visit(t, url);
    await page.waitForLoadState("networkidle");
    const focused = (): Promise<unknown> =>
      page.evaluate("document.activeElement.closest('li')?.id ?? document.activeElement.id");
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    await page.keyboard.press("k");
    assert.equal(await focused(), "row-bad");
    await page.keyboard.press("Enter");
    await page.locator("#event-title:focus").waitFor();
    assert.equal(search(page), "?event=bad");
    const panel = page.locator("#audit-event");
    assert.equal(await panel.locator("code").first().innerText(), `echo ${MARKUP}`);
    assert.ok((await panel.innerText()).includes(`Reason\n${MARKUP}`));
    await page.keyboard.press("j");
    await page.waitForURL("**?event=n0");
    await panel.getByText("git fetch 0", { exact: true }).waitFor();
    await page.keyboard.press("Escape");
    await panel.waitFor({ state: "detached" });
    assert.equal(await focused(), "row-n0");
    await page.locator("#row-n28 .row").focus();
    await page.keyboard.press("j");
    await page.locator("#row-n29 .row:focus").waitFor();
    assert.ok((await page.locator(".row").count()) > FIRST_EVENTS);
    assert.equal(await page.evaluate("typeof window.broken"), "undefined");
  },
);

/** The API paths that a page has read, in order. */
function readBy(page: Page): Promise<unknown> {
  return page.evaluate(`performance.getEntriesByType("resource")
    .map(({ name }) => new URL(name).pathname).filter((path) => path.startsWith("/api/"))`);
}

browserTest("data of the server's page is not read again", async (t) => {
  const { page } = await visit(t, `${url}?q=fetch`);
  await page.waitForLoadState("networkidle");
  await page.locator("#row-n3 .row").click();
  await page.locator("#event-title:focus").waitFor();
  assert.deepEqual(await readBy(page), ["/api/v1/audit/n3"]);
  assert.equal(await page.locator(".row[aria-current]").count(), 1);
  await page.goBack();
  await page.locator("#audit-event").waitFor({ state: "detached" });
  assert.equal(await page.locator(".row[aria-current]").count(), 0);
  await page.locator("#older").click();
  await page.locator("#row-n79").waitFor();
  await page.getByText("80 of 120").waitFor();
  assert.equal(await page.evaluate("document.activeElement.id"), "older");
  await page.locator("#older").press("Enter");
  await page.getByText("No older event matches").waitFor();
  assert.deepEqual(await readBy(page), ["/api/v1/audit/n3", "/api/v1/audit", "/api/v1/audit"]);
  const rows = (await page.evaluate(
    "[...document.querySelectorAll('.events li')].map(({ id }) => id)",
  )) as readonly string[];
  assert.deepEqual(
    rows,
    Array.from({ length: 120 }, (_, i) => `row-n${i}`),
  );
  const days = await page.locator(".day h3").allInnerTexts();
  assert.equal(new Set(days).size, days.length);
  await page.goto(`${url}?live=true`);
  await page.locator(LIVE).waitFor();
});

browserTest(
  "a search shows its list before its chart, and keeps the old chart until then",
  async (t) => {
    const { page } = await visit(t, url);
    const histogram = await holdAnswers(page, "**/audit/histogram?**");
    const chart = (): Promise<string> => page.locator("#audit-time").innerHTML();
    const before = await chart();
    await page.getByRole("searchbox").fill("fetch 11");
    await total(page, "11 events");
    assert.equal(await page.locator(".row").count(), 11);
    assert.equal(await chart(), before);
    assert.equal(await page.locator("#audit-time[aria-busy]").count(), 1);
    histogram.release();
    await page.locator("#audit-time:not([aria-busy])").waitFor();
    assert.notEqual(await chart(), before);
  },
);

browserTest(
  "while the service is away the page says what failed, tries again, and shows no rows of another view",
  async (t) => {
    const { page, faults } = await visit(t, url);
    await page.route("**/api/**", (route) => route.abort());
    await page.locator("#row-n3 .row").click();
    await page.getByRole("heading", { name: "The event could not be loaded" }).waitFor();
    await page.locator("#older").click();
    await page.getByText("Older events could not be loaded: The service cannot").waitFor();
    assert.equal(await page.locator(".row").count(), FIRST_EVENTS);
    await page.unroute("**/api/**");
    await page.getByRole("button", { name: "Try again" }).click();
    await page.locator("#audit-event", { hasText: "git fetch 3" }).waitFor();
    await page.route("**/api/**", (route) => route.abort());
    await page.getByRole("searchbox").fill("fetch 11");
    await page.getByRole("alert").getByText("The events could not be loaded: The serv").waitFor();
    assert.equal(await page.locator(".row").count(), 0);
    assert.equal(search(page), "?q=fetch 11");
    await page.unroute("**/api/**");
    await page.getByRole("button", { name: "Try again" }).click();
    await total(page, "11 events");
    assert.equal(await page.locator("#problem").count(), 0);
    faults.splice(0); // browsers report failed requests
  },
);

browserTest("an event can be shared and copied, and links to similar events", async (t) => {
  const { page } = await visit(t, `${url}?event=bad`, {
    permissions: ["clipboard-read", "clipboard-write"],
  });
  await page.waitForLoadState("networkidle");
  const copied = (name: string) => copiedBy(page, page.getByRole("button", { name }));
  assert.equal(await copied("Copy the command"), `echo ${MARKUP}`);
  await page.getByText("Raw JSON").click();
  assert.equal(JSON.parse(await copied("Copy the JSON")).executor, MARKUP);
  await page.getByText("12\u202f345 ms").hover();
  assert.equal(await copied("Copy duration"), "12345");
  const filter = page.getByRole("link", { name: /^Only events with consumer ai/ });
  await filter.focus();
  await filter.press("Enter");
  await total(page, "1 event");
  assert.equal(search(page), "?consumer=ai");
});

browserTest("an event becomes the draft of a rule in the editor", async (t) => {
  const { page, faults } = await visit(t, `${url}?event=bad`);
  await page.getByRole("button", { name: "allows it" }).click();
  await page.waitForURL("**/portal/policies/new");
  await page.getByRole("list", { name: "Drafted from events" }).waitFor();
  const draft = String(await page.evaluate("sessionStorage.getItem('signalbox.draft')"));
  const { yaml } = JSON.parse(draft) as { yaml: string };
  assert.match(yaml, /effect: allow/);
  const { body } = await app.post("/api/v1/policies/validate", { yaml });
  assert.deepEqual(body, { valid: true, problems: [] });
  faults.splice(0);
});

browserTest("an export has the filters of the view and uses a ticket", async (t) => {
  const { page } = await visit(t, `${url}?q=fetch+11`);
  await page.waitForLoadState("networkidle");
  await page.getByText("Export", { exact: true }).click();
  await page.getByText("11 events, exactly this view").waitFor();
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("link", { name: /^NDJSON/ }).click(),
  ]);
  assert.match(download.url(), /\/audit\/export-tickets\//);
  await page.getByText("The download has begun").waitFor();
  assert.equal(await page.locator("#export[open]").count(), 0);
  const rows = (await readFile(await download.path(), "utf8")).trim().split("\n");
  assert.equal(rows.length, 11);
});

browserTest(
  "the live tail shows new events, waits while the reader is in the list, and resumes",
  async (t) => {
    const live = await start(t);
    await live.post("/api/v1/audit", { command: "first", policy_decision: "DENIED" });
    const visited = await visit(t, `${live.url}/portal/audit?decision=DENIED`);
    const { page } = visited;
    await page.locator("#live").click();
    await followed(page);
    assert.equal(search(page), "?decision=DENIED&live=true");
    await live.post("/api/v1/audit", { command: "second", policy_decision: "DENIED" });
    await live.post("/api/v1/audit", { command: "not this", policy_decision: "ALLOWED" });
    await page.locator(".row", { hasText: "second" }).waitFor();
    await total(page, "2 events");
    await page.locator(".row", { hasText: "first" }).click();
    await live.post("/api/v1/audit", { command: "third", policy_decision: "DENIED" });
    await page.getByRole("button", { name: "1 new event" }).waitFor();
    assert.equal(await page.locator(".row", { hasText: "third" }).count(), 0);
    await page.keyboard.press("Escape");
    await page.locator("#show-arrived").click();
    assert.deepEqual(await page.locator(".row code").allInnerTexts(), ["third", "second", "first"]);
    await page.getByRole("searchbox").focus();
    await page.mouse.move(0, 0); // pointing at a row counts as reading it
    await live.restart({ port: Number(new URL(live.url).port) });
    await live.post("/api/v1/audit", { command: "meanwhile", policy_decision: "DENIED" });
    await page.locator(".row", { hasText: "meanwhile" }).waitFor();
    await total(page, "4 events");
    await page.locator("#live").click();
    await page.locator("#live[aria-pressed=false]").waitFor();
    // Browsers report the cut connection.
    const others = visited.faults.splice(0).filter((fault) => !/net::ERR_/.test(fault));
    assert.deepEqual(others, []);
  },
);

browserTest("facets count what arrives while the list is live", async (t) => {
  const live = await start(t);
  await live.post("/api/v1/audit", { command: "first", executor: "ada" });
  const { page } = await visit(t, `${live.url}/portal/audit?live=true`, {
    viewport: { width: 1400, height: 860 },
  });
  const facets = page.locator("#audit-facets");
  await followed(page);
  await facets.getByRole("link", { name: "ada 1" }).waitFor();
  await live.post("/api/v1/audit", { command: "second", executor: "ada" });
  await facets.getByRole("link", { name: "ada 2" }).waitFor();
});

browserTest("a tail that is started during a load stays on", async (t) => {
  const { page } = await visit(t, url);
  const chart = await holdAnswers(page, "**/audit/histogram?**");
  await page.getByRole("searchbox").fill("fetch 11");
  await total(page, "11 events");
  await chart.made;
  await page.locator("#live").click();
  await page.locator(LIVE).waitFor();
  chart.release();
  await page.locator("#audit-time:not([aria-busy])").waitFor();
  await page.locator(LIVE).waitFor();
});

browserTest("events that arrive during a load are not lost", async (t) => {
  const live = await start(t);
  await live.post("/api/v1/audit", { command: "first" });
  const { page } = await visit(t, `${live.url}/portal/audit`);
  await page.getByRole("searchbox").fill("i");
  await page.waitForURL("**?q=i");
  await page.locator("#audit-rows:not([aria-busy])").waitFor();
  // The answer is made before the event is stored, and is sent after the stream has sent the event.
  const list = await holdAnswers(page, "**/api/v1/audit?**");
  await page.locator("#live").click();
  await list.made;
  await page.mouse.move(0, 0);
  await live.post("/api/v1/audit", { command: "meanwhile" });
  await page.getByText("meanwhile").waitFor();
  list.release();
  await page.locator("#audit-rows:not([aria-busy])").waitFor();
  assert.deepEqual(await page.locator(".row code").allTextContents(), ["meanwhile", "first"]);
  await total(page, "2 events");
});

browserTest("list, tail and export send the token, and never in an address", async (t) => {
  const closed = await start(t, { ...ADMIN_SETTINGS, requireAuth: true });
  await closed.post("/api/public/audit", { id: "w1", command: "wagon-7" });
  const visited = await visit(t, `${closed.url}/portal/audit?q=wagon&event=w1&live=true`);
  const { page } = visited;
  const asked: string[] = [];
  page.on("request", (request) => asked.push(request.url()));
  await page.waitForURL("**/portal/sign-in");
  await page.getByLabel("Email").fill(ADMIN.email);
  await page.getByLabel("Password").fill(ADMIN.password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.waitForURL("**/portal/audit?q=wagon&event=w1&live=true");
  await page.getByRole("region", { name: "Command" }).getByText("wagon-7").waitFor();
  await followed(page);
  await closed.post("/api/public/audit", { command: "wagon-8" });
  await page.getByRole("button", { name: "1 new event" }).waitFor();
  await page.getByText("Export", { exact: true }).click();
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("link", { name: /^CSV/ }).click(),
  ]);
  assert.match(await readFile(await download.path(), "utf8"), /wagon-7/);
  const token = String(await page.evaluate("JSON.parse(localStorage['signalbox.session']).token"));
  assert.ok(token.length > 20 && asked.every((one) => !one.includes(token)));
  // Browsers report the requests that were refused before the sign-in.
  const others = visited.faults.splice(0).filter((fault) => !fault.includes("status of 401"));
  assert.deepEqual(others, []);
});

browserTest(
  "a page made by modules shows its list before its chart, which moves no row",
  async (t) => {
    const closed = await start(t, { ...ADMIN_SETTINGS, requireAuth: true });
    await closed.post("/api/public/audit", { command: "wagon-7" });
    const { page } = await visit(t, `${closed.url}/portal/sign-in#/portal/audit`);
    await page.getByLabel("Email").fill(ADMIN.email);
    await page.getByLabel("Password").fill(ADMIN.password);
    const histogram = await holdAnswers(page, "**/audit/histogram?**");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText("wagon-7").waitFor();
    const place = await page.locator("#audit-rows").boundingBox();
    assert.equal(await page.locator("#audit-time .plot").count(), 0);
    histogram.release();
    await page.locator("#audit-time .plot").waitFor();
    assert.deepEqual(await page.locator("#audit-rows").boundingBox(), place);
  },
);

browserTest("the page is accessible and fits, in both themes and on a phone", async (t) => {
  await checkLooks(t, url, "audit");
  const opened = await visit(t, `${url}?event=bad&range=7d&status=allowed&q=fetch 11`);
  await opened.page.waitForLoadState("networkidle");
  await opened.page.getByText("Export", { exact: true }).click();
  await opened.checkLooks("audit-event");
});

browserTest("a printed view is complete, black on white and without controls", async (t) => {
  const { page } = await visit(t, `${url}?q=echo`, { colorScheme: "dark" });
  await page.emulateMedia({ media: "print" });
  assert.equal(await page.locator("nav:visible, button:visible, .button:visible").count(), 0);
  const looks = "getComputedStyle(document.documentElement)";
  assert.equal(await page.evaluate(`${looks}.color`), "rgb(0, 0, 0)");
  assert.equal(await page.evaluate(`${looks}.backgroundColor`), "rgb(255, 255, 255)");
  const row = page.locator(".row");
  assert.equal(await row.locator(".what").isVisible(), true);
  assert.equal(
    await row.locator("code").evaluate((code) => code.clientWidth < code.scrollWidth),
    false,
  );
  await page.goto(`${url}?event=bad`);
  await page.locator(".event").waitFor();
  assert.deepEqual(await page.locator(".row:visible, .event:visible").count(), 1);
});

browserTest("the open row is marked in forced colours, too", async (t) => {
  const { page } = await visit(t, `${url}?event=bad`, { forcedColors: "active" });
  const outlines = (await page.evaluate(
    "[...document.querySelectorAll('.row')].map((row) => [row.ariaCurrent, getComputedStyle(row).outlineStyle])",
  )) as readonly (readonly [string | null, string])[];
  const isTold = outlines.filter(([current]) => current !== null);
  assert.deepEqual(isTold, [["true", "solid"]]);
  assert.ok(outlines.every(([current, outline]) => current !== null || outline === "none"));
});
