/**
 * The palette: a dialog that leads to pages, saved views, policy versions, runtimes and people by a part of their name. It is
 * loaded when it is opened first, so that no page is heavier for it. The page's own module passes in what only
 * one module of a page may have: the policy of trusted types, and the session.
 */
import type { FacetsAnswer } from "../../../audit/schema.ts";
import { DAY_MS } from "../../../core/clock.ts";
import { html, type Html } from "../../html.ts";
import { executorLink, policyLink, runtimeLink } from "../../page-link.ts";
import type { CallOptions } from "../api.ts";
import { savedViews } from "../saved-views.ts";

/** The parts of the page's module that the palette uses. */
export interface PaletteTools {
  readonly parsed: (markup: Html) => DocumentFragment;
  readonly now: () => number;
  readonly read: <T>(path: string, options?: CallOptions) => Promise<T>;
  /** Whether the user's role includes publishing. */
  readonly mayPublish: boolean;
}

interface Entry {
  readonly kind: string;
  readonly name: string;
  readonly href: string;
}

const MOST = 12;
const MOST_OF_KIND = 5;
const TYPING_MS = 120;
const PEOPLE_MS = 7 * DAY_MS;

/** Serves the palette's dialog. Arrows choose an entry, Enter follows it, and Escape closes the dialog. */
export function servePalette(
  dialog: HTMLDialogElement,
  { parsed, read, now, mayPublish }: PaletteTools,
): void {
  const box = dialog.querySelector("input");
  const list = dialog.querySelector("ul");
  const note = dialog.querySelector('[role="status"]');
  if (!box || !list || !note) return;
  const closed = new AbortController();
  dialog.addEventListener("close", () => closed.abort());
  const { signal } = closed;
  /** Reads once; after a failure it reads again. */
  const lazily = <T>(make: () => Promise<T>): (() => Promise<T>) => {
    let made: Promise<T> | undefined;
    return () =>
      (made ??= make().catch((error: unknown) => {
        made = undefined;
        throw error;
      }));
  };
  const versions = lazily(async () => {
    const query = { texts: "false" };
    const { policies } = await read<{ policies: readonly { version: string }[] }>("/policies", {
      query,
      signal,
    });
    return policies.map(({ version }) => version);
  });
  const people = lazily(async () => {
    const from = new Date(now() - PEOPLE_MS).toISOString();
    const query = { from, limit: 50 };
    const { facets } = await read<FacetsAnswer>("/audit/facets", { query, signal });
    const found = facets.find(({ field }) => field === "executor");
    return found?.values.map(({ value }) => value) ?? [];
  });
  let asked = 0;
  let chosen = 0;

  const choose = (place: number): void => {
    const options = [...list.querySelectorAll('[role="option"]')];
    chosen = options.length === 0 ? 0 : (place + options.length) % options.length;
    for (const [i, option] of options.entries()) {
      option.setAttribute("aria-selected", String(i === chosen));
    }
    const current = options[chosen];
    if (current) box.setAttribute("aria-activedescendant", current.id);
    else box.removeAttribute("aria-activedescendant");
    current?.scrollIntoView({ block: "nearest" });
  };
  const show = (entries: readonly Entry[]): void => {
    list.replaceChildren(
      parsed(
        html`${entries.slice(0, MOST).map(
          ({ kind, name, href }, i) =>
            html`<li role="option" id="palette-${i}" aria-selected="false">
              <a href="${href}" tabindex="-1"
                ><span>${name}</span> <span class="faint small">${kind}</span></a
              >
            </li>`,
        )}`,
      ),
    );
    choose(0);
  };
  const find = async (): Promise<void> => {
    const own = ++asked;
    const text = box.value.trim();
    const pages = among(text, [
      ...pageEntries(),
      ...savedViews().map((view) => ({ kind: "Saved view", ...view })),
      ...(mayPublish
        ? [{ kind: "Action", name: "Write a policy", href: "/portal/policies/new" }]
        : []),
      {
        kind: "Action",
        name: "Denied in the last 24 hours",
        href: "/portal/audit?decision=DENIED&range=24h",
      },
    ]);
    show(pages);
    note.textContent = "";
    if (text === "") return;
    const runtimesOf = async (): Promise<readonly string[]> => {
      const { runtimes } = await read<{ runtimes: readonly { name: string }[] }>("/fleet", {
        query: { q: text, limit: MOST_OF_KIND },
        signal,
      });
      return runtimes.map(({ name }) => name);
    };
    let isComplete = true;
    const orNone = (names: Promise<readonly string[]>): Promise<readonly string[]> =>
      names.catch(() => {
        isComplete = false;
        return [];
      });
    const [ofVersions, ofRuntimes, ofPeople] = await Promise.all([
      orNone(versions()),
      orNone(runtimesOf()),
      orNone(people()),
    ]);
    if (own !== asked || signal.aborted) return;
    const named = (
      kind: string,
      names: readonly string[],
      link: (name: string) => string,
    ): Entry[] => names.map((name) => ({ kind, name, href: link(name) }));
    const versionEntries = named("Policy version", ofVersions, (version) => policyLink(version));
    const found = [
      ...pages,
      ...among(text, versionEntries),
      ...named("Runtime", ofRuntimes, runtimeLink),
      ...among(text, named("Person or agent", ofPeople, executorLink)),
    ];
    show(found.sort((a, b) => Number(isNamed(text, b)) - Number(isNamed(text, a))));
    if (!isComplete) note.textContent = "Versions, runtimes or people could not be loaded";
    else if (found.length === 0) note.textContent = "Nothing has this in its name";
  };
  let typing: ReturnType<typeof setTimeout> | undefined;
  const findNow = (): void => {
    clearTimeout(typing);
    typing = undefined;
    void find();
  };
  box.addEventListener("input", () => {
    clearTimeout(typing);
    typing = setTimeout(findNow, TYPING_MS);
  });
  box.addEventListener("keydown", (event) => {
    const by = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (by !== 0) {
      event.preventDefault();
      choose(chosen + by);
    } else if (event.key === "Enter") {
      event.preventDefault();
      // The list may still be that of an earlier text. Pages, actions and views are listed at once.
      if (typing !== undefined) findNow();
      list.querySelector<HTMLElement>('[aria-selected="true"] a')?.click();
    }
  });
  // A link within the same page would leave the dialog open.
  list.addEventListener("click", ({ target }) => {
    if (target instanceof Element && target.closest("a")) dialog.close();
  });
  void find();
}

/** Whether a text is the whole name of an entry. */
function isNamed(text: string, { name }: Entry): boolean {
  return name.toLowerCase() === text.toLowerCase();
}

/** The entries whose name contains a text, first that of exactly this name, then those that begin with it. */
function among(text: string, entries: readonly Entry[]): readonly Entry[] {
  const wanted = text.toLowerCase();
  const rankOf = (entry: Entry): number =>
    isNamed(text, entry) ? 0 : entry.name.toLowerCase().startsWith(wanted) ? 1 : 2;
  return entries
    .filter(({ name }) => name.toLowerCase().includes(wanted))
    .sort((a, b) => rankOf(a) - rankOf(b))
    .slice(0, text === "" ? MOST : MOST_OF_KIND);
}

function pageEntries(): readonly Entry[] {
  return [...document.querySelectorAll<HTMLAnchorElement>("nav [data-key]")].map((link) => ({
    kind: "Page",
    name: link.textContent ?? "",
    href: link.href,
  }));
}
