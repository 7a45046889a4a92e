import { text, type HeaderList } from "../http/reply.ts";
import { route } from "../http/route.ts";
import { KEPT_TEXT_HEADERS, keptText, sendKeptText } from "../metadata/kept-text.ts";
import type { PortalPages, ServiceDescription } from "../metadata/service.ts";
import { PAGE_HEADERS } from "./layout.ts";
import { apiPage } from "./pages/api.ts";
import { homePage } from "./pages/home.ts";
import { STYLESHEET, STYLESHEET_PATH } from "./style.ts";

interface Needs {
  readonly description: ServiceDescription;
}

const HTML_TYPE = "text/html; charset=utf-8";
const KEEP: HeaderList = ["Cache-Control", "public, max-age=31536000, immutable"];

/** The pages that rows outside the portal answer with. */
export const portalPages: PortalPages = { home: homePage };

/** The portal's pages and what belongs to them: open to everybody, readable without JavaScript. */
export const portalRoutes = [
  route({
    method: "GET",
    path: "/portal/api",
    surfaces: ["portal"],
    access: "open",
    summary: "The page that describes every operation",
    tags: ["portal"],
    ...KEPT_TEXT_HEADERS,
    replies: { 200: "text/html", 304: "text/html" },
    handle: ({ headers }, { description }: Needs) =>
      sendKeptText(
        keptText(description, "portal/api", () => apiPage(description).html),
        HTML_TYPE,
        headers["if-none-match"],
        PAGE_HEADERS,
      ),
  }),
  route({
    method: "GET",
    path: STYLESHEET_PATH,
    surfaces: ["portal"],
    access: "open",
    summary: "The stylesheet of the pages",
    tags: ["portal"],
    replies: { 200: "text/css" },
    handle: () => text(200, "text/css; charset=utf-8", STYLESHEET, KEEP),
  }),
];
