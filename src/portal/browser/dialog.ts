import { html, type Html } from "../html.ts";
import { parsed } from "./markup.ts";
import { sendOnce } from "./send-once.ts";
import { restoreTypedIn, type TypedValues } from "./typed.ts";

/** A dialog that asks the reader to confirm an action. */
export interface Confirmation {
  readonly title: Html | string;
  readonly body: Html;
  /** The label of the button that confirms. */
  readonly confirm: string;
  readonly isDangerous?: boolean;
  readonly isWide?: boolean;
  /** Runs the action; an error is shown in the dialog, which stays open. */
  readonly run: (form: FormData) => Promise<void>;
}

/** Opens a dialog with a heading `#dialog-title`. Escape closes it, and the focus returns to its former place. */
export function openDialog(content: Html, className = ""): HTMLDialogElement {
  const dialog = document.createElement("dialog");
  dialog.className = className;
  dialog.setAttribute("aria-labelledby", "dialog-title");
  dialog.append(parsed(content));
  dialog.addEventListener("close", () => {
    dialog.remove();
    // The action may have removed the element that had the focus: keyboard users then continue at the content.
    if (document.activeElement === document.body) {
      document.getElementById("content")?.focus({ preventScroll: true });
    }
  });
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

/**
 * Asks for a confirmation. Escape and Cancel close the dialog without a change.
 *
 * @returns the values that the reader had typed here before the session ended; `undefined` without any
 */
export function ask(confirmation: Confirmation): TypedValues | undefined {
  const { title, body, confirm, isDangerous, isWide, run } = confirmation;
  const content = html`<form method="post">
    <h2 id="dialog-title">${title}</h2>
    ${body}
    <p class="error" role="alert"></p>
    <div class="buttons">
      <button type="button" data-cancel>Cancel</button>
      <button type="submit" class="${isDangerous ? "danger" : "primary"}">${confirm}</button>
    </div>
  </form>`;
  const dialog = openDialog(content, isWide ? "wide" : "");
  const form = dialog.querySelector("form");
  const cancel = dialog.querySelector<HTMLElement>("[data-cancel]");
  cancel?.addEventListener("click", () => dialog.close());
  form?.addEventListener("submit", (event) => {
    event.preventDefault();
    void sendOnce(form, async () => {
      await run(new FormData(form));
      dialog.close();
    });
  });
  const typed = restoreTypedIn(dialog);
  // Without a field the focus is on Cancel, so that Enter alone does not confirm. The inputs that unfold a difference
  // have no name: they are skipped, because Enter would confirm there too.
  (dialog.querySelector<HTMLElement>("input[name], select, textarea") ?? cancel)?.focus();
  return typed;
}
