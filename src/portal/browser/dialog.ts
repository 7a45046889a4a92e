import { html, type Html } from "../html.ts";
import { parsed } from "./markup.ts";
import { sendOnce } from "./send-once.ts";

/** A question to the reader, and what its answer does. */
export interface Question {
  readonly title: Html | string;
  readonly body: Html;
  /** The word on the button that does it. */
  readonly confirm: string;
  readonly isDangerous?: boolean;
  readonly isWide?: boolean;
  /** Does it; what it throws is shown in the dialog, which then stays open. */
  readonly run: (form: FormData) => Promise<void>;
}

/** Asks in a dialog; Escape and Cancel leave everything as it is, and focus goes back to where it was. */
export function ask({ title, body, confirm, isDangerous, isWide, run }: Question): void {
  const dialog = document.createElement("dialog");
  dialog.className = isWide ? "wide" : "";
  dialog.setAttribute("aria-labelledby", "dialog-title");
  const content = html`<form method="post">
    <h2 id="dialog-title">${title}</h2>
    ${body}
    <p class="error" role="alert"></p>
    <div class="buttons">
      <button type="button" data-cancel>Cancel</button>
      <button type="submit" class="${isDangerous ? "danger" : "primary"}">${confirm}</button>
    </div>
  </form>`;
  dialog.append(parsed(content));
  const form = dialog.querySelector("form");
  const cancel = dialog.querySelector<HTMLElement>("[data-cancel]");
  cancel?.addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => {
    dialog.remove();
    // What it was opened from may be gone by what was done: who uses keys goes on from the content.
    if (document.activeElement === document.body) {
      document.getElementById("content")?.focus({ preventScroll: true });
    }
  });
  form?.addEventListener("submit", (event) => {
    event.preventDefault();
    void sendOnce(form, async () => {
      await run(new FormData(form));
      dialog.close();
    });
  });
  document.body.append(dialog);
  dialog.showModal();
  // Where nothing is to be typed, Enter alone must not do what was asked about.
  (dialog.querySelector<HTMLElement>("input, select, textarea") ?? cancel)?.focus();
}
