import { contentElement } from "./live.ts";
import { sendOnce } from "./send-once.ts";

/**
 * Serves the forms that a selector names: one is sent by `run` while the page stays, and emptied
 * when that succeeded; what `run` throws is said in the form.
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

/** A field of a form as text without spaces around it; `undefined` when nothing is in it. */
export function textOf(data: FormData, name: string): string | undefined {
  const value = data.get(name);
  return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;
}

/** Calls `run` with what the button that was pressed carries under a name in its `data-` attributes. */
export function serveButtons(name: string, run: (value: string) => void): void {
  contentElement().addEventListener("click", (event) => {
    if (!(event.target instanceof Element)) return;
    const button = event.target.closest<HTMLElement>(`button[data-${name}]`);
    if (button) run(button.dataset[name] ?? "");
  });
}
