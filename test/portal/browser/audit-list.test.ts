/** The rows of the audit list, and their commands, on screens of all widths. */
import assert from "node:assert/strict";
import { browserTest, visit } from "../../support/browser.ts";
import { start } from "../../support/start.ts";

/** The rows whose pill covers the text beside it. */
const OVERLAPS = `[...document.querySelectorAll(".row")].flatMap((row) => {
  const [pill, ...others] = [".badge", "code", "time"].map((name) =>
    row.querySelector(name).getBoundingClientRect());
  const covers = (one) =>
    pill.left < one.right && one.left < pill.right && pill.top < one.bottom && one.top < pill.bottom;
  return others.some(covers) ? [row.innerText] : [];
})`;

browserTest("no decision or status covers the text beside it", async (t) => {
  const app = await start(t);
  const command = "git push --force origin main";
  const kinds = [
    { policy_decision: "ALLOWED" },
    { policy_decision: "DENIED", reason: "rule no-force-push" },
    { policy_decision: "ALLOWED", observed_decision: "DENIED", reason: "rule no-force-push" },
    {},
    ...["succeeded", "failed", "undecided", "W".repeat(200)].map((status) => ({ status })),
  ];
  await app.post("/api/v1/audit", {
    events: kinds.map((kind, i) => ({ id: `e${i}`, command, ...kind })),
  });
  const { page } = await visit(t, `${app.url}/portal/audit`);
  const widest = page.locator(".row .badge", { hasText: "Would be denied" });
  for (const width of [1440, 1280, 1024, 768, 390]) {
    await page.setViewportSize({ width, height: 900 });
    for (const search of ["", "?event=e1"]) {
      await page.goto(`${app.url}/portal/audit${search}`);
      await page.locator(".row").first().waitFor({ state: "attached" });
      assert.deepEqual(await page.evaluate(OVERLAPS), [], `${width} px, ${search}`);
      assert.equal(
        await widest.evaluate((pill) => pill.scrollWidth > pill.clientWidth),
        false,
        `${width} px`,
      );
    }
  }
  const pills = await page.locator(".row .badge").allTextContents();
  const long = `${"W".repeat(24)}…`;
  const statuses = [long, "Undecided", "Failed", "Succeeded", "No decision"];
  assert.deepEqual(pills, [...statuses, "Would be denied", "Denied", "Allowed"]);
});

/** The words of commands that stand on two lines. */
const BROKEN = `[...document.querySelectorAll("main :is(pre[aria-label=Command] code, td a.mono)")].flatMap((command) => {
  const texts = document.createTreeWalker(command, NodeFilter.SHOW_TEXT);
  const broken = [];
  while (texts.nextNode()) {
    const { currentNode: text } = texts;
    for (const { 0: word, index } of text.data.matchAll(/\\S+/g)) {
      const range = document.createRange();
      range.setStart(text, index);
      range.setEnd(text, index + word.length);
      if (new Set([...range.getClientRects()].map(({ top }) => top)).size > 1) broken.push(word);
    }
  }
  return broken;
})`;

browserTest("a command breaks between its words, and not inside its options", async (t) => {
  const app = await start(t);
  const command = `kubectl ${"a".repeat(20)} --all-namespaces --context a-b-c `.repeat(8);
  await app.post("/api/v1/audit", { id: "e1", command, executor: "ada" });
  const { page } = await visit(t, `${app.url}/portal/audit?event=e1`);
  for (const path of ["/portal/audit?event=e1", "/portal/executor?name=ada"]) {
    await page.goto(app.url + path);
    for (const width of [1280, 1000, 700, 390, 360]) {
      await page.setViewportSize({ width, height: 900 });
      assert.deepEqual(await page.evaluate(BROKEN), [], `${path}, ${width} px`);
    }
  }
});
