import "../frame.ts";
import { pathSegment } from "../../../core/path-segment.ts";
import { html } from "../../html.ts";
import { pageLink } from "../../page-link.ts";
import { fleet } from "../../pages/fleet.ts";
import { call } from "../api.ts";
import { serveLinks } from "../clicks.ts";
import { ask } from "../dialog.ts";
import { serveButtons, serveFilters } from "../form.ts";
import { keepFresh } from "../live.ts";
import { toast } from "../toast.ts";

const TYPING_MS = 250;

const page = keepFresh(fleet, 15_000);

serveFilters(
  "[data-filters]",
  (fields) => void page.go(pageLink(fleet.path, fields), "replace"),
  TYPING_MS,
);
serveLinks("[data-sort]", (link) => void page.go(link, "push"));
serveLinks("[data-more]", (link) => void page.go(link, "replace"));
serveButtons("forget", askToForget);

function askToForget(name: string): void {
  ask({
    title: html`Forget ${name}?`,
    body: html`<p>
      It leaves the fleet and the counts. A runtime that still runs comes back with its next
      heartbeat, under the same id. Its audit events stay.
    </p>`,
    confirm: "Forget",
    isDangerous: true,
    async run() {
      await call("DELETE", `/fleet/${pathSegment(name)}`);
      toast(`${name} is forgotten`);
      await page.refresh();
    },
  });
}
