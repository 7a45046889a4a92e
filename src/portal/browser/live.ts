import { finish, type Work } from "../../core/scheduling/work.ts";
import { readQuery, type QueryOf, type QueryParameters } from "../../http/query.ts";
import { documentTitle } from "../format.ts";
import type { Html } from "../html.ts";
import type { PageContext } from "../pages/parts.ts";
import type { DataPage } from "../pages/source.ts";
import { isSignedOut, pageSource } from "./api.ts";
import { serviceNow } from "./clock.ts";
import { morph } from "./morph.ts";
import { Retry } from "./retry.ts";
import { learnRole, withheldHere } from "./role.ts";
import { goToSignIn, session } from "./session.ts";
import { restoreTyped } from "./typed.ts";
import { onZoneChange, showsLocalTime } from "./zone.ts";

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
  delete document.documentElement.dataset["zone"];
}

/** The element around a page's content. */
export function contentElement(): HTMLElement {
  const element = document.getElementById("content");
  if (!element) throw new Error("The page has no content");
  return element;
}

/** Removes the data of a page, which belong to another address, and keeps its title and filters. */
function removeData(): void {
  const selector = ":scope > :not(.page-head, form, #problem), .page-head [role=status]";
  for (const element of contentElement().querySelectorAll(selector)) element.remove();
}

/**
 * Keeps a page fresh: at once where the server sent no data, a user is signed in or times are local, then at an
 * interval while the page is visible. After a failure it tries again; only data of the same address stay meanwhile.
 *
 * @param sooner the interval while what the page shows will soon change
 */
export function keepFresh<Model, Q extends QueryParameters>(
  { parameters, title, titleOf, read, render }: DataPage<Model, Q>,
  everyMs: number,
  sooner?: { readonly everyMs: number; readonly isAwaited: (model: Model) => boolean },
): Live {
  // Whether the page of the server awaits something is known from the first read on.
  let dueMs = sooner?.everyMs ?? everyMs;
  let underWay: AbortController | undefined;
  let lastAt = performance.now();
  let shownAddress = location.search;
  const retry = new Retry();
  const refresh = async (): Promise<void> => {
    underWay?.abort();
    retry.stop();
    const own = new AbortController();
    underWay = own;
    try {
      await learnRole(own.signal);
      const model = await read(pageSource(own.signal), pageContext(), addressQuery(parameters));
      if (own.signal.aborted) return;
      show(render(model));
      dueMs = sooner?.isAwaited(model) === true ? sooner.everyMs : everyMs;
      document.title = documentTitle(titleOf?.(model) ?? title);
      restoreTyped();
      shownAddress = location.search;
      retry.succeeded();
    } catch (error) {
      if (own.signal.aborted || isSignedOut(error)) return;
      const isStale = shownAddress === location.search;
      if (!isStale) removeData();
      const failed = `${title} could not be ${isStale ? "refreshed" : "loaded"}`;
      retry.after(failed, error, () => void refresh());
    } finally {
      lastAt = performance.now();
      if (underWay === own) underWay = undefined;
    }
  };
  const refreshIfDue = (): void => {
    const isDue = performance.now() - lastAt >= dueMs;
    if (isDue && document.visibilityState === "visible" && !underWay) void refresh();
  };
  setInterval(refreshIfDue, 1_000);
  document.addEventListener("visibilitychange", refreshIfDue);
  addEventListener("popstate", () => void refresh());
  const isOpen = document.body.dataset["open"] === "true";
  onZoneChange(() => void refresh());
  if (session() || (isOpen && showsLocalTime())) void refresh();
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
