/** The parts of every page: the theme, the time zone, the shortcuts, the copy buttons and the session. */
import { html } from "../html.ts";
import { serveCopyButtons } from "./copy.ts";
import { serveKeys } from "./keys.ts";
import { parsed } from "./markup.ts";
import { session, signOut } from "./session.ts";
import { serveZone } from "./zone.ts";
import { browserStorage } from "./storage.ts";

const THEMES = ["system", "light", "dark"] as const;
type Theme = (typeof THEMES)[number];

const root = document.documentElement;

function currentTheme(): Theme {
  return THEMES.find((theme) => theme === root.dataset["theme"]) ?? "system";
}

function setTheme(theme: Theme): void {
  if (theme === "system") delete root.dataset["theme"];
  else root.dataset["theme"] = theme;
  browserStorage.set("signalbox.theme", theme);
}

function serveTheme(): void {
  const button = document.getElementById("theme");
  if (!button) return;
  const show = (): void => {
    button.textContent = `Theme: ${currentTheme()}`;
  };
  button.addEventListener("click", () => {
    setTheme(THEMES[(THEMES.indexOf(currentTheme()) + 1) % THEMES.length] ?? "system");
    show();
  });
  show();
}

function showSession(): void {
  const place = document.getElementById("session");
  const signedIn = session();
  if (!place || !signedIn) return; // a page that needs a token opens the sign-in page itself
  place.append(
    parsed(
      html`<span class="email">${signedIn.email}</span>
        <button type="button" class="quiet">Sign out</button>`,
    ),
  );
  const button = place.querySelector("button");
  button?.addEventListener("click", () => {
    button.disabled = true;
    void signOut();
  });
}

serveTheme();
serveZone();
serveKeys();
serveCopyButtons();
showSession();
