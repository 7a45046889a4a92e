const SHOWN_MS = 5_000;

/** Says something in a corner for a while; screen readers hear it. */
export function toast(message: string): void {
  const element = document.createElement("div");
  element.className = "toast";
  element.textContent = message;
  document.getElementById("toasts")?.append(element);
  setTimeout(() => element.remove(), SHOWN_MS);
}
