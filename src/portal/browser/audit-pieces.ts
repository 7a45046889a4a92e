/**
 * The parts of the audit page that change on their own: the open event, older events, the state of the
 * live tail. Each function replaces its part of the page only, so its cost does not depend on the length
 * of the list. The part may have been rendered by the server or by the browser.
 */
import type { Html } from "../html.ts";
import { rowId } from "../pages/audit-rows.ts";
import { parsed } from "./markup.ts";
import { morphElement } from "./morph.ts";

/** The link of the first row with this event id; `null` where the list has none. */
export function linkOf(id: string): HTMLElement | null {
  const row = CSS.escape(rowId({ id }));
  return document.querySelector(`[id="${row}"] a, [id^="${row}·"] a`);
}

/** Shows an event beside the list and marks its row; without one, removes the panel and the mark. */
export function showPanel(panel: Html | undefined, id: string | undefined): void {
  const place = document.querySelector(".audit");
  const old = document.getElementById("audit-event");
  place?.classList.toggle("with-event", panel !== undefined);
  if (panel === undefined) old?.remove();
  else if (old) morphElement(old, panel);
  else place?.append(parsed(panel));
  for (const row of document.querySelectorAll(".row[aria-current]")) {
    row.removeAttribute("aria-current");
  }
  if (id !== undefined) linkOf(id)?.setAttribute("aria-current", "true");
}

/** Appends the rows of the next page. Rows of the last day shown go into that day's section. */
export function appendRows(rows: Html): void {
  const list = document.getElementById("audit-rows");
  const more = list?.querySelector(".more");
  if (!more) return;
  for (const piece of [...parsed(rows).children]) {
    if (piece.matches(".more")) morphElement(more, piece);
    else appendDay(piece, more);
  }
}

function appendDay(day: Element, more: Element): void {
  for (const row of day.querySelectorAll("li")) {
    if (document.getElementById(row.id)) row.remove();
  }
  const begun = document.getElementById(day.id)?.querySelector("ol");
  if (begun) begun.append(...day.querySelectorAll("li"));
  else more.before(day);
}

/** Shows the state of the live tail. */
export function showTailButton(button: Html): void {
  const old = document.querySelector(".tail");
  if (old) morphElement(old, button);
}

/** Shows how old the list is; `undefined` removes it. */
export function showFreshness(line: Html | undefined): void {
  const old = document.getElementById("freshness");
  if (line === undefined) old?.remove();
  else if (old) morphElement(old, line);
  else document.querySelector(".page-head .total")?.after(parsed(line));
}

/** Marks the list and its chart as busy, or as up to date. */
export function setBusy(isBusy: boolean): void {
  for (const id of ["audit-rows", "audit-time"]) {
    const element = document.getElementById(id);
    if (isBusy) element?.setAttribute("aria-busy", "true");
    else element?.removeAttribute("aria-busy");
  }
}
