/**
 * The parts of the audit page that change by themselves: the opened event, older events that are read
 * on, the state of the live tail. Each replaces its part of the page, whether server or browser rendered
 * that, and however long the list is.
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

/** Puts an event beside the list and marks its row, or takes both back. */
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

/** Puts the rows of a list's next page below those that are there; a day that goes on stays one. */
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

/** Shows how the live tail goes. */
export function showTailButton(button: Html): void {
  const old = document.querySelector(".tail");
  if (old) morphElement(old, button);
}

/** Says above the list what went wrong; what shows the page anew takes it back. */
export function showProblem(problem: string): void {
  const place = document.querySelector(".audit");
  const notice = document.createElement("p");
  notice.className = "notice bad";
  notice.setAttribute("role", "alert");
  notice.textContent = problem;
  const old = place?.previousElementSibling;
  if (old?.matches(".notice")) old.replaceWith(notice);
  else place?.before(notice);
}

/** Says of the list and its chart that others are on their way, or that nothing is. */
export function setBusy(isBusy: boolean): void {
  for (const id of ["audit-rows", "audit-time"]) {
    const element = document.getElementById(id);
    if (isBusy) element?.setAttribute("aria-busy", "true");
    else element?.removeAttribute("aria-busy");
  }
}
