const SHOWN_MS = 5_000;

/** Shows a message in a corner for a while; screen readers announce it. */
export function toast(message: string): void {
  const element = document.createElement("div");
  element.className = "toast";
  element.textContent = message;
  document.getElementById("toasts")?.append(element);
  setTimeout(() => element.remove(), SHOWN_MS);
}
