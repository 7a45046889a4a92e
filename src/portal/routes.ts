/**
 * The portal: pages that an operator keeps open. A page is three things. Its **page function** in
 * `pages/` is pure, from a model made of wire types to `Html`, and imports nothing of Node, so that
 * it runs here and in a browser alike. Its **loader** in `loaders/` reads that model of the default
 * organization from the stores, where anybody may read it (`mode.ts` decides); elsewhere the page
 * leaves here without data. Its **module** in `browser/` reads the same model from the API, renders
 * it by the same function into `#content` (`morph.ts` keeps focus and scroll), and enhances what is
 * there: handlers by delegation, filters in the URL through the history API. What a page shows and
 * links works without modules wherever that is possible. A row below joins the three.
 */
import { DEFAULT_ORGANIZATION } from "../core/caller.ts";
import { route } from "../http/route.ts";
import { KEPT_TEXT_HEADERS, keptText, sendKeptText } from "../metadata/kept-text.ts";
import type { PortalPages } from "../metadata/service.ts";
import type { UserStore } from "../users/store.ts";
import { accessPageRoutes } from "./access-routes.ts";
import { assetRoutes } from "./asset-routes.ts";
import { auditPageRoutes } from "./audit-routes.ts";
import { catalogPageRoutes } from "./catalog-routes.ts";
import { layOut, PAGE_HEADERS, type PortalFrame } from "./layout.ts";
import { loadOverview, type OverviewNeeds } from "./loaders/overview.ts";
import { managementModeOf, modeOf } from "./mode.ts";
import { makePage, PAGE, sendPage } from "./page.ts";
import { apiPage } from "./pages/api.ts";
import { overviewPage } from "./pages/overview.ts";
import { signInPage } from "./pages/sign-in.ts";

interface SignInNeeds extends PortalFrame {
  readonly users: Pick<UserStore, "list">;
}

const HTML_TYPE = "text/html; charset=utf-8";

/** The pages that rows outside the portal answer with. */
export function createPortalPages(needs: PortalFrame & OverviewNeeds): PortalPages {
  return {
    home: () =>
      makePage(needs, {
        path: "/",
        title: "Overview",
        module: "overview",
        load: (context) => loadOverview(needs, context),
        render: overviewPage,
      }),
  };
}

/** The portal's pages and what belongs to them: open to everybody. */
export const portalRoutes = [
  route({
    ...PAGE,
    path: "/portal/sign-in",
    summary: "The page that asks who somebody is",
    refuses: [500],
    async handle(_, { users, ...frame }: SignInNeeds) {
      const hasUsers = (await users.list(DEFAULT_ORGANIZATION)).length > 0;
      const body = signInPage({ hasUsers });
      const mode = managementModeOf(frame.description);
      const content = { path: "/portal/sign-in", title: "Sign in", module: "sign-in", body, mode };
      return sendPage(layOut(frame, content));
    },
  }),
  route({
    ...PAGE,
    path: "/portal/api",
    summary: "The page that describes every operation",
    ...KEPT_TEXT_HEADERS,
    replies: { 200: "text/html", 304: "text/html" },
    handle: ({ headers }, frame: PortalFrame) => {
      const { isOpen } = modeOf(frame.description);
      return sendKeptText(
        keptText(frame.description, `portal/api ${isOpen}`, () => apiPage(frame).html),
        HTML_TYPE,
        headers["if-none-match"],
        PAGE_HEADERS,
      );
    },
  }),
  ...auditPageRoutes,
  ...catalogPageRoutes,
  ...accessPageRoutes,
  ...assetRoutes,
];
