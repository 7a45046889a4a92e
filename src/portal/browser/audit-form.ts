/** The form of the audit page and the view that it describes. */
import type { Search } from "../pages/audit-search.ts";
import {
  ANEW,
  AUDIT_FILTERS,
  AUDIT_PARAMETERS,
  readView,
  typedWildcards,
  viewHref,
  type AuditView,
} from "../pages/audit-view.ts";
import { fieldInUtc } from "../zone.ts";

type Field = HTMLInputElement | HTMLSelectElement;

/** Makes the fields for times pickers when the form opens. */
export function servePickers(content: HTMLElement): void {
  const open = ({ target }: Event): void => {
    if (!(target instanceof Element) || target.id !== "more-filters") return;
    for (const field of target.querySelectorAll<HTMLInputElement>("[data-moment]")) {
      field.step = "1";
      field.type = "datetime-local";
    }
  };
  content.addEventListener("toggle", open, true);
}

/** Resets the form's fields to their markup, except for the field that has the focus. */
export function fillForm(): void {
  const form = document.getElementById("audit-filters");
  if (!(form instanceof HTMLFormElement)) return;
  for (const name of ["find", ...AUDIT_PARAMETERS]) {
    const field = fieldOf(form, name);
    if (!field || field === document.activeElement) continue;
    // A value that was typed or chosen would hide the one in the markup.
    field.value = servedValue(field);
  }
}

/**
 * The address of the view that the form describes; what the box says goes before the other fields. A field that the
 * reader left alone stands for the view: while a view is being loaded, the form still shows the one before it.
 */
export function formHref(
  form: HTMLFormElement,
  { filters, quoted }: Search,
  view: AuditView,
): string {
  const given = readView((name) => {
    const field = fieldOf(form, name);
    if (!field || !isChanged(field)) return view[name];
    return name === "from" || name === "to" ? fieldInUtc(field.value) : field.value.trim();
  });
  const isTimed = (given.from ?? given.to) !== undefined;
  const range = isTimed ? undefined : given.range; // an own range replaces a quick one
  const box = fieldOf(form, "find");
  const q = box && isChanged(box) ? filters.q : view.q;
  const changed = AUDIT_FILTERS.filter((name) => given[name] !== view[name]);
  const typed = { ...Object.fromEntries(changed.map((name) => [name, given[name]])), ...filters };
  const wildcards = typedWildcards(view, typed, quoted);
  return viewHref({ ...given, ...filters }, { q, range, wildcards, ...ANEW });
}

function fieldOf(form: HTMLFormElement, name: string): Field | undefined {
  const field = form.elements.namedItem(name);
  const isField = field instanceof HTMLInputElement || field instanceof HTMLSelectElement;
  return isField ? field : undefined;
}

function isChanged(field: Field): boolean {
  return field.value !== servedValue(field);
}

/** The value of a field in the markup. */
function servedValue(field: Field): string {
  return field instanceof HTMLSelectElement
    ? ([...field.options].find((option) => option.defaultSelected)?.value ?? "")
    : (field.getAttribute("value") ?? "");
}
