/** The columns that the reader chose for the list of events. */
import {
  AUDIT_COLUMNS,
  MOST_COLUMNS,
  USUAL_COLUMNS,
  type AuditColumn,
} from "../pages/audit-columns.ts";
import { browserStorage, fromJson } from "./storage.ts";

const KEY = "signalbox.columns";

let columns = readKept();

/** The chosen columns from left to right. */
export function chosenColumns(): readonly AuditColumn[] {
  return columns;
}

/** Whether the columns are those of the server's page. */
export function hasUsualColumns(): boolean {
  return columns.join() === USUAL_COLUMNS.join();
}

/** Serves the menu; calls back when a column was chosen or dropped. */
export function serveColumns(content: HTMLElement, shown: () => void): void {
  content.addEventListener("change", ({ target }) => {
    if (!(target instanceof HTMLInputElement) || target.name !== "column") return;
    const boxes = [...content.querySelectorAll<HTMLInputElement>("#columns input:checked")];
    columns = known(boxes.map(({ value }) => value));
    browserStorage.set(KEY, JSON.stringify(columns));
    shown();
  });
}

function readKept(): readonly AuditColumn[] {
  const names = fromJson<unknown>(browserStorage.get(KEY));
  return Array.isArray(names) ? known(names) : USUAL_COLUMNS;
}

function known(names: readonly unknown[]): readonly AuditColumn[] {
  return AUDIT_COLUMNS.filter((column) => names.includes(column)).slice(0, MOST_COLUMNS);
}
