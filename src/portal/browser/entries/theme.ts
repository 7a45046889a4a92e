// Runs before anything is shown, so that nobody sees the other theme first, or how things move when
// what needs modules appears: a script, no module.
{
  document.documentElement.dataset["modules"] = "";
  let theme: string | null = null;
  try {
    theme = localStorage.getItem("signalbox.theme");
  } catch {
    // A browser that keeps nothing follows the system.
  }
  if (theme === "light" || theme === "dark") document.documentElement.dataset["theme"] = theme;
}
