import { toast } from "./toast.ts";

/** Shows the copy buttons, which only modules can serve. */
export function showCopyButtons(): void {
  if (!navigator.clipboard) return; // absent on plain HTTP from another machine
  for (const button of document.querySelectorAll("button[data-copy][hidden]")) {
    button.removeAttribute("hidden");
  }
}

/** Copies what stands beside a copy button that is pressed. */
export function serveCopyButtons(): void {
  showCopyButtons();
  document.addEventListener("click", (event) => {
    const button = event.target instanceof Element ? event.target.closest("[data-copy]") : null;
    const text = button?.parentElement?.querySelector("code")?.textContent;
    if (!button || !text) return;
    navigator.clipboard.writeText(text).then(
      () => toast("Copied"),
      () => toast("The browser does not let this page copy"),
    );
  });
}
