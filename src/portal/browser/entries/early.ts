// A classic script, not a module: it runs before the page is shown. So the other theme never flashes,
// parts that need modules do not move the page, and no form is sent before its module is loaded.
{
  const AGAIN_MS = 100;

  document.documentElement.dataset["modules"] = "";
  let theme: string | null = null;
  let isLocal = false;
  try {
    theme = localStorage.getItem("signalbox.theme");
    isLocal = localStorage.getItem("signalbox.zone") === "local";
  } catch {
    // Without storage the theme follows the system, and times are in UTC.
  }
  if (theme === "light" || theme === "dark") document.documentElement.dataset["theme"] = theme;
  if (isLocal) document.documentElement.dataset["zone"] = "local";

  // The browser must not post a form itself: it would leave the page and lose the input. A form that
  // is sent before its module is loaded waits for the module.
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
