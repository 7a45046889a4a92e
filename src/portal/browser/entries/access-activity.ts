import "../frame.ts";
import { ACTIVITY_PATH } from "../../access-tabs.ts";
import { pageLink } from "../../page-link.ts";
import { activity } from "../../pages/access-activity.ts";
import { serveLinks } from "../clicks.ts";
import { serveFilters } from "../form.ts";
import { keepFresh } from "../live.ts";

const page = keepFresh(activity, 15_000);

serveFilters("[data-filters]", (fields) => void page.go(pageLink(ACTIVITY_PATH, fields), "push"));
serveLinks(".pages a", (link) => {
  void page.go(link, "push").then(() => window.scrollTo(0, 0));
});
