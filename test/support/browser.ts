/**
 * A real browser for tests: Chromium, found at `CHROMIUM_PATH` or where systems install it. If
 * there is none, the tests are skipped with a message, or fail if `REQUIRE_BROWSER=1`.
 */
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { after, test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import {
  chromium,
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  type Locator,
  type Page,
} from "playwright-core";

const KNOWN_PLACES = [
  "/usr/bin/chromium-headless-shell", // without the windows of a browser, at two thirds of the work
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const MODULES = fileURLToPath(new URL("../../dist/portal/browser", import.meta.url));
const SCREENSHOTS = fileURLToPath(new URL("../screenshots", import.meta.url));
const README_IMAGES = fileURLToPath(new URL("../../docs/images", import.meta.url));
const README_PICTURE = { width: 1120, height: 700 }; // below 150 KiB each

/** After this time a page will not show what the test expects; a loaded machine takes a tenth of it. */
const LATE_MS = 90_000;
const NEVER_MS = 300_000;

/** The screen sizes in which pages are checked. */
export const DESKTOP = { width: 1280, height: 860 } as const;
export const PHONE = { width: 360, height: 740 } as const;

const places = [process.env["CHROMIUM_PATH"] ?? "", ...KNOWN_PLACES];
const executablePath = places.find((path) => path !== "" && existsSync(path));
const missing =
  executablePath === undefined
    ? "no Chromium is installed (CHROMIUM_PATH names one)"
    : existsSync(MODULES)
      ? undefined
      : "the browser modules are not built (npm run build makes them)";

/** The rule about the size of targets, which axe leaves out unless it is asked for. */
const TARGETS = { "target-size": { enabled: true } };
/** It covers parts of other targets, which axe then finds too small. */
const OPEN_MENU = ".menu[open]";
/** The rules of axe about colours, which take most of its time. */
const RULES_OF_COLOUR = ["color-contrast", "link-in-text-block"];
const WITHOUT_COLOURS = Object.fromEntries(RULES_OF_COLOUR.map((id) => [id, { enabled: false }]));

let browser: Promise<Browser> | undefined;
after(async () => (await browser)?.close());

function launch(): Promise<Browser> {
  assert.ok(executablePath !== undefined && missing === undefined, missing);
  // The sandbox is not available to root, and the tests open only our own pages.
  return (browser ??= chromium.launch({
    ...{ executablePath, args: ["--no-sandbox"], timeout: NEVER_MS },
  }));
}

/** A test that needs a browser. */
export function browserTest(name: string, run: (t: TestContext) => Promise<void>): void {
  const isRequired = process.env["REQUIRE_BROWSER"] === "1";
  const options = { skip: isRequired ? false : (missing ?? false), timeout: NEVER_MS };
  test(name, options, async (t) => {
    const own: Opened[] = [];
    opened.set(t, own);
    try {
      await run(t);
    } finally {
      // Before the test's own servers end: a page that requests them again would report that.
      await Promise.all(own.map(({ context }) => context.close()));
    }
    for (const { visited } of own) assert.deepEqual(visited.faults, []);
  });
}

/** The pages and contexts of a test; closed at its end. */
interface Opened {
  readonly context: BrowserContext;
  readonly visited: Visit;
}

const opened = new WeakMap<TestContext, Opened[]>();

/** A page in its own browser context. Any fault in it fails the test at its end. */
export class Visit {
  readonly page: Page;
  /** The messages of the console and the page; a test that expects some empties the list. */
  readonly faults: string[] = [];

  constructor(page: Page, origin: string, refusals: readonly number[]) {
    this.page = page;
    page.on("console", (message) => {
      const text = message.text();
      if (!["error", "warning"].includes(message.type())) return;
      // The browser itself reports refused requests, even those that a page expects.
      if (refusals.some((status) => text.includes(`status of ${status} `))) return;
      this.faults.push(text);
    });
    page.on("pageerror", (error) => this.faults.push(String(error)));
    page.on("request", (request) => {
      const url = new URL(request.url());
      if (url.origin !== origin && url.protocol !== "data:") this.faults.push(`asked ${url.href}`);
    });
  }

  /**
   * Fails if the accessibility rules of axe find a fault in the current theme. What is being loaded is waited for, since
   * it is pale.
   *
   * @param rules the rules to check
   */
  async checkAccessibility(rules: "all" | "colours" | "without colours" = "all"): Promise<void> {
    await this.page.locator("[aria-busy]").first().waitFor({ state: "detached" });
    if ((await this.page.evaluate("typeof axe")) === "undefined") await this.page.evaluate(AXE);
    assert.deepEqual(await this.#faultsOf(rules), []);
  }

  async #faultsOf(rules: "all" | "colours" | "without colours"): Promise<string[]> {
    if (rules === "colours") return this.#axeFaults("html", { runOnly: RULES_OF_COLOUR });
    const colours = rules === "all" ? {} : WITHOUT_COLOURS;
    const isMenuOpen = (await this.page.locator(OPEN_MENU).count()) > 0;
    if (!isMenuOpen) return this.#axeFaults("html", { rules: { ...colours, ...TARGETS } });
    const found = await this.#axeFaults("html", { rules: colours });
    return [...found, ...(await this.#axeFaults(OPEN_MENU, { rules: { ...colours, ...TARGETS } }))];
  }

  async #axeFaults(place: string, rules: object): Promise<string[]> {
    const options = { resultTypes: ["violations"], ...rules };
    return this.page.evaluate(
      `axe.run(${JSON.stringify(place)}, ${JSON.stringify(options)}).then(({ violations }) =>
        violations.map(({ id, nodes }) => id + ": " + nodes.map(({ html, failureSummary }) =>
          html.slice(0, 160) + " " + failureSummary).join(" | ")))`,
    );
  }

  /** Fails if the page or its navigation has to be scrolled sideways. */
  async checkFits(): Promise<void> {
    const widths = (await this.page.evaluate(
      `[document.documentElement, ...document.querySelectorAll(".side nav")]
        .map(({ scrollWidth, clientWidth }) => [scrollWidth, clientWidth])`,
    )) as readonly (readonly [number, number])[];
    for (const [content, place] of widths) {
      assert.ok(content <= place, `${content} px wide in a place of ${place} px`);
    }
  }

  /** Checks the appearance on a desktop and on a phone, each in both themes. */
  async checkLooks(name: string): Promise<void> {
    for (const [form, viewport] of [
      ["desktop", DESKTOP],
      ["phone", PHONE],
    ] as const) {
      await this.page.setViewportSize(viewport);
      await this.checkFits();
      for (const [colorScheme, rules] of [
        ["light", "all"],
        ["dark", "colours"], // apart from colours it is the same document
      ] as const) {
        await this.page.emulateMedia({ colorScheme });
        await this.checkAccessibility(rules);
        await this.screenshot(`${name}-${colorScheme}-${form}`, { fullPage: form === "phone" });
      }
    }
  }

  /** Fails if markup from data was run: the tests' data contains markup that sets `window.broken`. */
  async checkUnbroken(): Promise<void> {
    assert.equal(await this.page.evaluate("typeof window.broken"), "undefined");
  }

  /** Saves a screenshot in `test/screenshots/` if `SCREENSHOTS=1`. */
  async screenshot(name: string, options: { readonly fullPage?: boolean } = {}): Promise<void> {
    await this.#picture(SCREENSHOTS, name, options);
  }

  /** Saves a picture for the README in `docs/images/` if `SCREENSHOTS=1`. */
  async pictureForReadme(name: string): Promise<void> {
    await this.page.setViewportSize(README_PICTURE);
    await this.#picture(README_IMAGES, name, {});
    await this.page.setViewportSize(DESKTOP);
  }

  async #picture(
    folder: string,
    name: string,
    options: { readonly fullPage?: boolean },
  ): Promise<void> {
    if (process.env["SCREENSHOTS"] !== "1") return;
    mkdirSync(folder, { recursive: true });
    await this.page.screenshot({ path: `${folder}/${name}.png`, ...options });
  }
}

/** Markup that sets `window.broken` wherever it is not shown as text. */
export const MARKUP = `</script><script>window.broken=1</script><img src=x onerror="window.broken=2">"'`;

/**
 * Opens a page of a server. Any fault in it fails the test at its end, except refused requests with
 * one of the given statuses.
 */
export async function visit(
  t: TestContext,
  url: string,
  options: BrowserContextOptions = {},
  refusals: readonly number[] = [],
): Promise<Visit> {
  const context = await (await launch()).newContext({ viewport: DESKTOP, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(LATE_MS);
  const visited = new Visit(page, new URL(url).origin, refusals);
  opened.get(t)?.push({ context, visited });
  await page.goto(url);
  return visited;
}

/** Makes a page's module read its data again, and waits until it has rendered them. */
export async function refresh(page: Page): Promise<void> {
  await page.evaluate(`{
    const mark = document.createElement("i");
    mark.id = "not-rendered-again"; // a rendering removes what is not part of it
    document.getElementById("content").append(mark);
    dispatchEvent(new PopStateEvent("popstate"));
  }`);
  await page.locator("#not-rendered-again").waitFor({ state: "detached" });
}

/** Clicks a button that copies, and waits for what it copied. The page needs the permissions of the clipboard. */
export async function copiedBy(page: Page, button: Locator): Promise<string> {
  await page.evaluate("navigator.clipboard.writeText('')");
  await button.click();
  const copied = await page.evaluate(`(async () => {
    for (;;) {
      const text = await navigator.clipboard.readText();
      if (text !== "") return text;
    }
  })()`);
  return String(copied);
}

/** Responses that the server has sent and the page has not received. */
export interface HeldAnswers {
  /** Settles when the first response was made. */
  readonly made: Promise<unknown>;
  /** Delivers them and all later ones. */
  release(): void;
}

/** Delays the responses to the page's requests from now on, if a pattern matches their address. */
export async function holdAnswers(page: Page, pattern: string): Promise<HeldAnswers> {
  let release = (): void => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  let answer: (response: Promise<unknown>) => void = () => {};
  const made = new Promise<unknown>((resolve, reject) => {
    const fail = (): void => reject(new Error(`Nothing asked for ${pattern}`));
    const late = setTimeout(fail, LATE_MS).unref();
    answer = (response) => {
      clearTimeout(late);
      resolve(response);
    };
  });
  made.catch(() => undefined); // if nothing waits for it any more
  await page.route(pattern, async (route) => {
    const response = route.fetch({ maxRetries: 1 }); // a connection that was kept may just have ended
    answer(response);
    await released;
    await route.fulfill({ response: await response });
  });
  return { made, release };
}

/** Opens a page and checks its appearance: in both themes, on a desktop and on a phone. */
export async function checkLooks(t: TestContext, url: string, name: string): Promise<void> {
  const visited = await visit(t, url);
  await visited.page.waitForLoadState("networkidle");
  await visited.checkLooks(name);
}
