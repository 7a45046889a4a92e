import { contentElement } from "./live.ts";
import { sendOnce } from "./send-once.ts";

/**
 * Serves the forms that match a selector: `run` sends one while the page stays. The form is reset on
 * success and shows the error of `run` otherwise.
 */
export function serveForm(selector: string, run: (data: FormData) => Promise<void>): void {
  contentElement().addEventListener("submit", (event) => {
    const form = event.target;
    if (!(form instanceof HTMLFormElement) || !form.matches(selector)) return;
    event.preventDefault();
    void sendOnce(form, async () => {
      await run(new FormData(form));
      form.reset();
    });
  });
}

/** The trimmed text of a form field; `undefined` for an empty one. */
export function textOf(data: FormData, name: string): string | undefined {
  const value = data.get(name);
  return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;
}

/** Calls `run` with the value of `data-<name>` when a button with that attribute is pressed. */
export function serveButtons(name: string, run: (value: string) => void): void {
  contentElement().addEventListener("click", (event) => {
    if (!(event.target instanceof Element)) return;
    const button = event.target.closest<HTMLElement>(`button[data-${name}]`);
    if (button) run(button.dataset[name] ?? "");
  });
}

/**
 * Serves the filter forms that match a selector: `run` gets the fields when a form is sent or a choice
 * changes. With `pauseMs` it also gets them that long after each letter.
 */
export function serveFilters(
  selector: string,
  run: (fields: Readonly<Record<string, string>>) => void,
  pauseMs?: number,
): void {
  let typing: ReturnType<typeof setTimeout> | undefined;
  const send = (form: HTMLFormElement): void => {
    const fields = [...new FormData(form)].map(([name, value]) => [name, String(value).trim()]);
    run(Object.fromEntries(fields));
  };
  for (const form of document.querySelectorAll<HTMLFormElement>(selector)) {
    if ([...form.elements].some(isChanged)) send(form); // a reader may be faster than this module
  }
  for (const type of ["submit", "change", "input"]) {
    contentElement().addEventListener(type, (event) => {
      const { target } = event;
      const form = target instanceof Element ? target.closest<HTMLFormElement>(selector) : null;
      if (!form) return;
      const isTyped = target instanceof HTMLInputElement && target.type !== "checkbox";
      // A choice counts once it changes, and a text with each letter; both fire the other event, too.
      if (type === (isTyped ? "change" : "input")) return;
      event.preventDefault();
      clearTimeout(typing);
      if (type !== "input") send(form);
      else if (pauseMs !== undefined) typing = setTimeout(send, pauseMs, form);
    });
  }
}

/** Whether a field has another value than the page came with. */
function isChanged(field: Element): boolean {
  if (field instanceof HTMLInputElement) {
    return field.checked !== field.defaultChecked || field.value !== field.defaultValue;
  }
  if (!(field instanceof HTMLSelectElement)) return false;
  const given = [...field.options].find(({ defaultSelected }) => defaultSelected);
  return field.value !== (given ?? field.options[0])?.value;
}
