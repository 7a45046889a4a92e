import { isSignedOut, reasonOf } from "./api.ts";

/** Most answers take less time, and a label that changes for a moment distracts. */
const BUSY_AFTER_MS = 150;

const underWay = new WeakSet<HTMLFormElement>();

/**
 * Runs a form's action unless it is running already. The button keeps the focus and shows its
 * `data-busy` text when the action takes longer. An error of `run` is shown in the form, except for a
 * 401, which leads to the sign-in page.
 */
export async function sendOnce(form: HTMLFormElement, run: () => Promise<void>): Promise<void> {
  if (underWay.has(form)) return;
  underWay.add(form);
  const failure = form.querySelector(".error");
  if (failure) failure.textContent = "";
  const button = form.querySelector<HTMLButtonElement>("button[type=submit]");
  const words = button?.textContent ?? "";
  const busy = button?.dataset["busy"] ?? "One moment…";
  button?.setAttribute("aria-disabled", "true");
  const timer = setTimeout(() => {
    if (button) button.textContent = busy;
  }, BUSY_AFTER_MS);
  try {
    await run();
  } catch (error) {
    if (failure && !isSignedOut(error)) failure.textContent = reasonOf(error);
  } finally {
    clearTimeout(timer);
    underWay.delete(form);
    button?.removeAttribute("aria-disabled");
    if (button?.textContent === busy) button.textContent = words;
  }
}
