/** The reader's choice between UTC and the zone of the browser. */
import { showZone, wallText, zoneAt } from "../zone.ts";
import { browserStorage } from "./storage.ts";

const KEY = "signalbox.zone";
const CHANGED = "signalbox-zone";

let isLocal = browserStorage.get(KEY) === "local";
apply();

/** Whether the page shows local times: the server's page, which is in UTC, is then read again at once. */
export function showsLocalTime(): boolean {
  return isLocal;
}

/** Calls back whenever the reader chooses the other zone. */
export function onZoneChange(run: () => void): void {
  addEventListener(CHANGED, run);
}

/** Serves the button that changes the zone. */
export function serveZone(): void {
  const button = document.getElementById("zone");
  if (!button) return;
  const show = (): void => {
    button.textContent = `Times: ${isLocal ? "local" : "UTC"}`;
    for (const time of document.querySelectorAll<HTMLTimeElement>(".demo-note time")) {
      const ms = Date.parse(time.dateTime);
      time.textContent = `${wallText(ms).slice(11, 16)} ${zoneAt(ms)}`;
    }
  };
  button.addEventListener("click", () => {
    isLocal = !isLocal;
    browserStorage.set(KEY, isLocal ? "local" : "utc");
    apply();
    show();
    dispatchEvent(new Event(CHANGED));
  });
  show();
}

function apply(): void {
  showZone(isLocal ? (ms) => -new Date(ms).getTimezoneOffset() : undefined);
}
