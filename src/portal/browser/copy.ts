import { toast } from "./toast.ts";

/** Copies the text beside a copy button when the button is pressed. */
export function serveCopyButtons(): void {
  if (!navigator.clipboard) return; // absent on plain HTTP from another machine
  document.documentElement.dataset["clipboard"] = "";
  document.addEventListener("click", (event) => {
    const button = event.target instanceof Element ? event.target.closest("[data-copy]") : null;
    const place = button?.closest("dd") ?? button?.parentElement;
    // A long text is split into several elements.
    const pieces = [...(place?.querySelectorAll("code") ?? [])].map(
      (code) => code.dataset["value"] ?? code.textContent,
    );
    const text = pieces.join("");
    if (!button || text === "") return;
    navigator.clipboard.writeText(text).then(
      () => toast("Copied"),
      () => toast("The browser does not allow this page to copy"),
    );
  });
}
