import type { Html } from "../html.ts";
import type { PageContext } from "../pages/parts.ts";
import { ApiError, reasonOf } from "./api.ts";
import { serviceNow } from "./clock.ts";
import { morph } from "./morph.ts";
import { learnRole, withheldHere } from "./role.ts";
import { goToSignIn, session } from "./session.ts";
import { restoreTyped } from "./typed.ts";

/** A page whose data is read again and again. */
export interface LivePage<Model> {
  readonly load: (context: PageContext, signal: AbortSignal) => Promise<Model>;
  readonly render: (model: Model) => Html;
  readonly everyMs: number;
}

/** What a page is asked to do. */
export interface Live {
  /** Loads and shows the page anew; one that is under way is given up. */
  refresh(): Promise<void>;
}

/** What pages know of where they stand, by what the frame says. */
export function pageContext(): PageContext {
  const { apiUrl = "", open } = document.body.dataset;
  const needsCredential = open !== "true";
  return { now: serviceNow(), apiUrl, needsCredential, withheld: withheldHere() };
}

/** Where a page's content is. */
export function contentElement(): HTMLElement {
  const element = document.getElementById("content");
  if (!element) throw new Error("The page has no content");
  return element;
}

/**
 * Keeps a page fresh: at once where the server sent no data or a user is signed in, then at an interval
 * while the page is visible. A failure is shown above the data, which stays.
 */
export function keepFresh<Model>({ load, render, everyMs }: LivePage<Model>): Live {
  let underWay: AbortController | undefined;
  let lastAt = performance.now();
  const refresh = async (): Promise<void> => {
    underWay?.abort();
    const own = new AbortController();
    underWay = own;
    try {
      await learnRole(own.signal);
      const model = await load(pageContext(), own.signal);
      if (own.signal.aborted) return;
      morph(contentElement(), render(model));
      restoreTyped();
      showTrouble(undefined);
    } catch (error) {
      if (own.signal.aborted || (error instanceof ApiError && error.status === 401)) return;
      showTrouble(reasonOf(error));
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
  const isOpen = document.body.dataset["open"] === "true";
  if (session()) void refresh();
  else if (!isOpen) goToSignIn();
  return { refresh };
}

/** Says above the page what keeps it from being fresh, or takes that back. */
function showTrouble(reason: string | undefined): void {
  const shown = document.getElementById("trouble");
  if (reason === undefined) return shown?.remove();
  const notice = shown ?? document.createElement("p");
  notice.id = "trouble";
  notice.className = "notice bad";
  notice.setAttribute("role", "alert");
  notice.textContent = `${reason}. What is shown may be old; this page tries again by itself.`;
  if (!shown) contentElement().prepend(notice);
}
