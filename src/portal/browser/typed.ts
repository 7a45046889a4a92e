/**
 * Keeps the unsent input of a page while the reader signs in again. It is restored once, on the same
 * page. Passwords are not kept.
 */
import { fromJson, tabStorage } from "./storage.ts";

const TYPED = "signalbox.typed";
const FIELDS = "#content :is(input, textarea, select)[id]";

interface Typed {
  readonly path: string;
  readonly values: Readonly<Record<string, string>>;
}

/** Keeps the typed values of the fields of this page, by their ids. */
export function keepTyped(): void {
  const values: Record<string, string> = {};
  for (const field of document.querySelectorAll(FIELDS)) {
    if (isText(field) && field.value !== field.defaultValue) values[field.id] = field.value;
    if (field instanceof HTMLSelectElement) values[field.id] = field.value;
  }
  const typed: Typed = { path: location.pathname, values };
  tabStorage.set(TYPED, JSON.stringify(typed));
}

/** Restores the values that were kept for this page. */
export function restoreTyped(): void {
  const typed = fromJson<Partial<Typed> | null>(tabStorage.take(TYPED));
  if (typed?.path !== location.pathname) return;
  for (const [id, value] of Object.entries(typed.values ?? {})) {
    const field = document.getElementById(id);
    if (field && (isText(field) || field instanceof HTMLSelectElement)) field.value = value;
  }
}

function isText(element: Element): element is HTMLInputElement | HTMLTextAreaElement {
  if (element instanceof HTMLTextAreaElement) return true;
  return (
    element instanceof HTMLInputElement && !["password", "checkbox", "radio"].includes(element.type)
  );
}
