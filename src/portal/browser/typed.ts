/**
 * Keeps the unsent input of a page while the reader signs in again, and that of its open dialog. It is restored
 * once, on the same page: in a dialog when the reader opens it again. Passwords are not kept.
 */
import { fromJson, tabStorage } from "./storage.ts";

const TYPED = "signalbox.typed";
const TYPED_IN_DIALOG = "signalbox.typed-in-dialog";
/** The fields whose text the page keeps itself, as the policy editor its draft, are left out. */
const FIELDS = ":is(input, textarea, select)[id]:not([data-kept])";

/** Typed texts and choices by the ids of their fields. */
export type TypedValues = Readonly<Record<string, string>>;

interface Typed {
  readonly path: string;
  /** The title of the dialog; absent for the fields of the page itself. */
  readonly title?: string;
  readonly values: TypedValues;
}

/** Keeps the typed values of the fields of this page and of its open dialog, by their ids. */
export function keepTyped(): void {
  const content = document.getElementById("content");
  if (content) keep(TYPED, { values: valuesIn(content) });
  const dialog = document.querySelector("dialog:has(#dialog-title)");
  if (dialog) keep(TYPED_IN_DIALOG, { title: titleOf(dialog), values: valuesIn(dialog) });
}

function keep(key: string, typed: Omit<Typed, "path">): void {
  tabStorage.set(key, JSON.stringify({ path: location.pathname, ...typed } satisfies Typed));
}

function valuesIn(place: Element): TypedValues {
  const values: Record<string, string> = {};
  for (const field of place.querySelectorAll(FIELDS)) {
    if (isText(field) && field.value !== field.defaultValue) values[field.id] = field.value;
    if (field instanceof HTMLSelectElement) values[field.id] = field.value;
  }
  return values;
}

function titleOf(dialog: Element): string {
  return dialog.querySelector("#dialog-title")?.textContent ?? "";
}

/** The values that were kept for the fields of this page; none without any. */
export function typedHere(): TypedValues {
  const typed = fromJson<Partial<Typed> | null>(tabStorage.get(TYPED));
  return (typed?.path === location.pathname && typed.values) || {};
}

/** Restores the values that were kept for this page. */
export function restoreTyped(): void {
  const values = typedHere();
  tabStorage.set(TYPED, undefined);
  fillTyped(values);
}

/** Restores the values that were kept for a dialog, and returns them; `undefined` without any. */
export function restoreTypedIn(dialog: Element): TypedValues | undefined {
  const typed = fromJson<Partial<Typed> | null>(tabStorage.get(TYPED_IN_DIALOG));
  if (typed?.path !== location.pathname || typed.title !== titleOf(dialog)) return undefined;
  tabStorage.set(TYPED_IN_DIALOG, undefined);
  fillTyped(typed.values ?? {});
  return typed.values;
}

/** Fills the fields that exist with values that were kept. */
export function fillTyped(values: TypedValues): void {
  for (const [id, value] of Object.entries(values)) {
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
