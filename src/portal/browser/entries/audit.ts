/** The module of the audit page: clicks, typing, keys and drags become a view and its address. */
import "../frame.ts";
import type { AuditEvent } from "../../../audit/schema.ts";
import {
  ALL_TIME,
  ANEW,
  joinedHref,
  queryOf,
  readView,
  shortMoment,
  viewHref,
  type AuditQuery,
  type AuditView,
} from "../../pages/audit-view.ts";
import { readAddress, readSearch, searchText } from "../../pages/audit-search.ts";
import { reasonOf } from "../api.ts";
import { copyLink, downloadExport, serveViewsMenu } from "../audit-actions.ts";
import { hasUsualColumns, serveColumns } from "../audit-columns.ts";
import { serveFacets, showFacets } from "../audit-facets.ts";
import { linkOf } from "../audit-pieces.ts";
import { fillForm, formHref, servePickers } from "../audit-form.ts";
import { AuditScreen } from "../audit-screen.ts";
import { followEvents } from "../audit-tail.ts";
import { serveZoom } from "../audit-zoom.ts";
import { isModified } from "../clicks.ts";
import { serviceNow } from "../clock.ts";
import { collect, openRuleDraft, showCollected } from "../collected.ts";
import { addShortcuts } from "../keys.ts";
import { contentElement } from "../live.ts";
import { serveMenus } from "../menus.ts";
import { session } from "../session.ts";
import { toast } from "../toast.ts";
import { onZoneChange, showsLocalTime } from "../zone.ts";

const TYPING_MS = 120;
const ARRIVALS_MS = 400;
const FRESHNESS_MS = 10_000;
const TOP_PIXELS = 40;

const content = contentElement();
const screen = new AuditScreen(isReading, () => void showFacets(screen.view, screen.readAt));
let tailing: { readonly key: string; readonly stop: AbortController } | undefined;
let arrivals: AuditEvent[] = [];
let scrolledTo = 0;

/** Shows the view of an address and updates the address bar. */
async function go(href: string, how: "push" | "replace" | "stay"): Promise<void> {
  const address = new URL(href, location.href);
  if (how === "push") history.pushState(null, "", address);
  else if (how === "replace") history.replaceState(null, "", address);
  const { view } = readAddress((name) => address.searchParams.get(name));
  const before = screen.view;
  const isSameList = screen.shows(view);
  if (before.event === undefined && view.event !== undefined) scrolledTo = scrollY;
  leaveOthers(view);
  await (isSameList ? screen.open(view) : screen.load(view));
  follow(screen.view);
  if (screen.view !== view) return; // the reader has moved on meanwhile
  if (view.event === undefined && before.event !== undefined) closed(before.event, isSameList);
}

/** Restores the scroll position on narrow screens, where the event replaced the list, and the focus. */
function closed(id: string, isSameList: boolean): void {
  if (isSameList && matchMedia("(max-width: 72rem)").matches) scrollTo(0, scrolledTo);
  linkOf(id)?.focus({ preventScroll: true });
}

function serveForm(): void {
  let typing: ReturnType<typeof setTimeout> | undefined;
  const submit = (form: HTMLFormElement, how: "push" | "replace"): void => {
    clearTimeout(typing);
    const box = form.elements.namedItem("find");
    if (!(box instanceof HTMLInputElement)) return;
    const search = readSearch(box.value);
    // A field is half written until the reader sends the form.
    if (how === "replace" && search.hasFields) return;
    if (search.problem !== undefined) {
      box.setCustomValidity(search.problem);
      box.reportValidity();
      return;
    }
    const href = formHref(form, search, screen.view);
    if (search.hasFields) box.value = searchText(search.filters.q);
    if (href !== viewHref(screen.view)) void go(href, how);
  };
  content.addEventListener("submit", (event) => {
    if (!(event.target instanceof HTMLFormElement) || event.target.id !== "audit-filters") return;
    event.preventDefault();
    submit(event.target, "push");
  });
  content.addEventListener("change", ({ target }) => {
    if (target instanceof HTMLSelectElement && target.form) submit(target.form, "push");
  });
  content.addEventListener("input", ({ target }) => {
    if (!(target instanceof HTMLInputElement) || target.name !== "find") return;
    const { form } = target;
    target.setCustomValidity("");
    clearTimeout(typing);
    if (form) typing = setTimeout(() => submit(form, "replace"), TYPING_MS);
  });
}

function serveClicks(): void {
  content.addEventListener("click", (event) => {
    const target = event.target instanceof Element ? event.target : undefined;
    const control = target?.closest("a, button");
    if (!control) return;
    const draft = control.getAttribute("data-draft");
    const { event: id = "" } = screen.view;
    if (control.id === "live") toggleLive();
    else if (control.id === "show-arrived") showArrived();
    else if (control.id === "copy-link") copyLink(screen.view, screen.readAt);
    else if (draft === "allow" || draft === "deny") openRuleDraft([id], draft);
    else if (draft === "collect") collect(id);
    else if (control.id === "retry-event") void screen.reopen();
    else if (control.id === "refresh" && !isModified(event)) {
      event.preventDefault();
      void screen.load(screen.view);
    } else if (control.hasAttribute("data-export") && control instanceof HTMLAnchorElement) {
      event.preventDefault();
      downloadExport(control.href).then(() => toast("The download has begun"), say);
    } else if (control.id === "older" && !isModified(event)) {
      event.preventDefault();
      void screen.loadOlder();
    } else followLink(control, event);
  });
}

/** Follows a link to another view within the page, unless the click asks for another tab. */
function followLink(link: Element, event: MouseEvent): void {
  const href = link.getAttribute("href");
  if (href === null || isModified(event)) return;
  if (new URL(href, location.href).pathname !== location.pathname || href.startsWith("#")) return;
  event.preventDefault();
  const isRow = link.classList.contains("row");
  void go(targetOf(link, href), "push").then(() => {
    if (isRow) document.getElementById("event-title")?.focus();
  });
}

/** The address that a link leads to: while another view is loaded, the page still shows the links of the view before it. */
function targetOf(link: Element, href: string): string {
  const sets = link.closest("[data-sets]")?.getAttribute("data-sets");
  if (!sets) return href;
  const { searchParams } = new URL(href, location.href);
  const linked = readView((name) => searchParams.get(name));
  return joinedHref(linked, sets, screen.view);
}

function say(error: unknown): void {
  toast(reasonOf(error));
}

/** The query of a view's stream; `undefined` for a view that is not live. */
function streamOf(view: AuditView): AuditQuery | undefined {
  if (view.live === undefined) return undefined;
  const { from: _, ...filters } = queryOf(view, serviceNow());
  return view.from === undefined ? filters : { ...filters, from: view.from };
}

/** Closes a stream of another view, whose events do not belong to this view's list. */
function leaveOthers(view: AuditView): void {
  if (!tailing || tailing.key === JSON.stringify(streamOf(view))) return;
  tailing.stop.abort();
  tailing = undefined;
  arrivals = [];
}

/** Opens or closes the stream of a view. */
function follow(view: AuditView): void {
  leaveOthers(view);
  if (tailing) return;
  const query = streamOf(view);
  if (query === undefined) return screen.showTail({ state: "off" });
  const stop = new AbortController();
  tailing = { key: JSON.stringify(query), stop };
  const listener = {
    onBegin: () => void screen.load(screen.view),
    onEvents: (events: readonly AuditEvent[]) => {
      if (arrivals.length === 0) setTimeout(takeArrivals, ARRIVALS_MS, stop.signal);
      arrivals.push(...events);
    },
    onState: (tail: Parameters<typeof screen.showTail>[0]) => screen.showTail(tail),
  };
  void followEvents(query, listener, stop.signal);
}

function takeArrivals(signal: AbortSignal): void {
  const events = arrivals;
  arrivals = [];
  if (!signal.aborted && events.length > 0) screen.takeArrived(events);
}

/** Whether the reader looks or points at the rows, which must not move then. */
function isReading(): boolean {
  const rows = document.getElementById("audit-rows");
  const isPointedAt = rows?.matches(":hover, :focus-within") ?? false;
  return scrollY > TOP_PIXELS || screen.view.event !== undefined || isPointedAt;
}

function toggleLive(): void {
  const { live } = screen.view;
  // No event arrives in a time range that has ended, nor on a later page of the list.
  const changes =
    live === undefined ? { live: "true", to: undefined, cursor: undefined } : { live: undefined };
  void go(viewHref(screen.view, changes), "replace");
}

function showArrived(): void {
  screen.showArrived();
  scrollTo({ top: 0 });
  content.querySelector<HTMLElement>(".row")?.focus({ preventScroll: true });
}

/** Focuses the next or the previous row; opens its event where an event is open. */
async function move(by: 1 | -1): Promise<void> {
  const rows = (): HTMLElement[] => [...content.querySelectorAll<HTMLElement>(".row")];
  const { event: openId } = screen.view;
  const current = document.activeElement?.closest<HTMLElement>(".row");
  const at = rows().indexOf(current ?? (openId === undefined ? null : linkOf(openId)) ?? content);
  if (at + by >= rows().length) await screen.loadOlder();
  const next = rows()[Math.max(0, at + by)];
  if (!next) return;
  next.focus();
  next.scrollIntoView({ block: "nearest" });
  if (openId !== undefined) {
    await go(targetOf(next, next.getAttribute("href") ?? ""), "replace");
  }
}

function close(): void {
  if (screen.view.event !== undefined) {
    void go(viewHref(screen.view, { event: undefined }), "push");
  }
}

/** Starts with the page that the server rendered, which is as fresh as a new answer. */
function begin(): void {
  const { searchParams } = new URL(location.href);
  screen.adopt(readAddress((name) => searchParams.get(name)).view);
  fillForm();
  follow(screen.view);
  void showFacets(screen.view, screen.readAt);
}

addShortcuts([
  { key: "j", does: "Next event", run: () => void move(1) },
  { key: "k", does: "Event before", run: () => void move(-1) },
  { key: "Escape", does: "Close the event", run: close },
  { key: "l", does: "Follow events as they arrive, or stop", run: toggleLive },
]);
serveForm();
servePickers(content);
serveClicks();
showCollected();
serveFacets(content, () => void showFacets(screen.view, screen.readAt, false));
serveZoom(content, (from, to) => {
  const moments = { from: shortMoment(from), to: shortMoment(to) };
  void go(viewHref(screen.view, { ...ALL_TIME, ...ANEW, ...moments, live: undefined }), "push");
});
addEventListener("popstate", () => void go(location.href, "stay"));
onZoneChange(() => void screen.redraw().then(fillForm));
serveColumns(content, () => void screen.redraw());
serveViewsMenu(content, () => screen.view);
serveMenus(content);
setInterval(() => screen.showFreshness(), FRESHNESS_MS);
const isAsServed = !showsLocalTime() && hasUsualColumns();
if (document.body.dataset["open"] === "true" && !session() && isAsServed) begin();
else void go(location.href, "stay");
