// A classic script, not a module: it runs before anything is shown. So the other theme never flashes,
// parts that need modules do not move the page, and no form is sent before its module is loaded.
{
  const AGAIN_MS = 100;

  document.documentElement.dataset["modules"] = "";
  let theme: string | null = null;
  try {
    theme = localStorage.getItem("signalbox.theme");
  } catch {
    // A browser that keeps nothing follows the system.
  }
  if (theme === "light" || theme === "dark") document.documentElement.dataset["theme"] = theme;

  // The browser itself posts nothing: it would leave the page with what was typed. A form that is
  // sent before its module has come waits for it.
  const waiting = new WeakSet<HTMLFormElement>();
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (event.defaultPrevented || !(form instanceof HTMLFormElement)) return;
    if (form.method !== "post") return;
    event.preventDefault();
    if (waiting.has(form)) return;
    waiting.add(form);
    setTimeout(() => {
      waiting.delete(form);
      if (form.isConnected) form.requestSubmit();
    }, AGAIN_MS);
  });
}
