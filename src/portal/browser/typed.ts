/**
 * What was typed but not sent when a page had to be left for the sign-in page. Passwords are not
 * kept, and what is kept comes back once, to the same page.
 */
const TYPED = "signalbox.typed";
const FIELDS = "#content :is(input, textarea, select)[id]";

interface Typed {
  readonly path: string;
  readonly values: Readonly<Record<string, string>>;
}

/** Keeps what the fields of this page hold, by their ids, as far as it was typed. */
export function keepTyped(): void {
  const values: Record<string, string> = {};
  for (const field of document.querySelectorAll(FIELDS)) {
    if (isText(field) && field.value !== field.defaultValue) values[field.id] = field.value;
    if (field instanceof HTMLSelectElement) values[field.id] = field.value;
  }
  try {
    const typed: Typed = { path: location.pathname, values };
    sessionStorage.setItem(TYPED, JSON.stringify(typed));
  } catch {
    // Without storage there is no way to keep it.
  }
}

/** Puts back what was kept for this page. */
export function restoreTyped(): void {
  const typed = take();
  if (typed?.path !== location.pathname) return;
  for (const [id, value] of Object.entries(typed.values)) {
    const field = document.getElementById(id);
    if (field && (isText(field) || field instanceof HTMLSelectElement)) field.value = value;
  }
}

function take(): Typed | undefined {
  try {
    const text = sessionStorage.getItem(TYPED);
    sessionStorage.removeItem(TYPED);
    return text === null ? undefined : (JSON.parse(text) as Typed);
  } catch {
    return undefined;
  }
}

function isText(element: Element): element is HTMLInputElement | HTMLTextAreaElement {
  if (element instanceof HTMLTextAreaElement) return true;
  return (
    element instanceof HTMLInputElement && !["password", "checkbox", "radio"].includes(element.type)
  );
}
