import { finish, type Work } from "../../core/work.ts";
import { readQuery, type QueryOf, type QueryParameters } from "../../http/query.ts";
import { html, type Html } from "../html.ts";
import type { PageContext } from "../pages/parts.ts";
import type { DataPage } from "../pages/source.ts";
import { isSignedOut, pageSource, reasonOf } from "./api.ts";
import { serviceNow } from "./clock.ts";
import { parsed } from "./markup.ts";
import { morph, morphElement } from "./morph.ts";
import { learnRole, withheldHere } from "./role.ts";
import { goToSignIn, session } from "./session.ts";
import { restoreTyped } from "./typed.ts";

/** A page that is kept fresh. */
export interface Live {
  /** Reads and shows the page again; ends a refresh that is under way. */
  refresh(): Promise<void>;
  /** Makes a link the page's address and shows its view; `replace` adds no entry to the history. */
  go(link: string, how: "push" | "replace"): Promise<void>;
}

/** The context of this page, from the attributes of its frame and from the session. */
export function pageContext(): PageContext {
  const { apiUrl = "", open } = document.body.dataset;
  const needsCredential = open !== "true";
  const email = session()?.email;
  return { now: serviceNow(), apiUrl, needsCredential, withheld: withheldHere(), email };
}

/** The parameters of the address, read as the server reads them. */
export function addressQuery<const Q extends QueryParameters>(parameters: Q): QueryOf<Q> {
  return readQuery(parameters, location.search.slice(1));
}

/** Shows a page's content. */
export function show(content: Html | Work<Html>): void {
  morph(contentElement(), "next" in content ? finish(content) : content);
}

/** The element around a page's content. */
export function contentElement(): HTMLElement {
  const element = document.getElementById("content");
  if (!element) throw new Error("The page has no content");
  return element;
}

/**
 * Keeps a page fresh: at once where the server sent no data or a user is signed in, then at an interval
 * while the page is visible. A failure is shown above the data, which stays.
 */
export function keepFresh<Model, Q extends QueryParameters>(
  { parameters, read, render }: Pick<DataPage<Model, Q>, "parameters" | "read" | "render">,
  everyMs: number,
): Live {
  let underWay: AbortController | undefined;
  let lastAt = performance.now();
  const refresh = async (): Promise<void> => {
    underWay?.abort();
    const own = new AbortController();
    underWay = own;
    try {
      await learnRole(own.signal);
      const model = await read(pageSource(own.signal), pageContext(), addressQuery(parameters));
      if (own.signal.aborted) return;
      show(render(model));
      restoreTyped();
    } catch (error) {
      if (own.signal.aborted || isSignedOut(error)) return;
      showProblem(`${reasonOf(error)}. The data may be outdated; this page tries again.`);
    } finally {
      lastAt = performance.now();
      if (underWay === own) underWay = undefined;
    }
  };
  const refreshIfDue = (): void => {
    const isDue = performance.now() - lastAt >= everyMs;
    if (isDue && document.visibilityState === "visible" && !underWay) void refresh();
  };
  setInterval(refreshIfDue, Math.min(everyMs, 1_000));
  document.addEventListener("visibilitychange", refreshIfDue);
  addEventListener("popstate", () => void refresh());
  const isOpen = document.body.dataset["open"] === "true";
  if (session()) void refresh();
  else if (!isOpen) goToSignIn();
  return {
    refresh,
    go(link, how) {
      if (how === "push") history.pushState(null, "", link);
      else history.replaceState(null, "", link);
      return refresh();
    },
  };
}

/** Shows a problem above the page; the next rendering of the page removes it. */
export function showProblem(problem: string): void {
  const shown = document.getElementById("problem");
  const notice = html`<p class="notice bad" id="problem" role="alert">${problem}</p>`;
  if (shown) morphElement(shown, notice);
  else contentElement().prepend(parsed(notice));
}
