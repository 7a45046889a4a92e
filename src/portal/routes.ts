/**
 * The portal: pages that an operator keeps open. A page is three things. Its **page function** in
 * `pages/` is pure, from a model made of wire types to `Html`, and imports nothing of Node, so that
 * it runs here and in a browser alike. Its **loader** in `loaders/` reads that model of the default
 * organization from the stores, where anybody may read it (`mode.ts` decides); elsewhere the page
 * leaves here without data. Its **entry** in `browser/entries/`, of which the build makes one module
 * with all that it imports, reads the same model from the API, renders it by the same function into
 * `#content` (`morph.ts` keeps focus and scroll), and enhances what is there: handlers by delegation,
 * filters in the URL through the history API. What a page shows and links works without modules
 * wherever that is possible. A row below joins the three.
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
import { EDITOR_PATH } from "./handover.ts";
import { layOut, PAGE_HEADERS, type PortalFrame } from "./layout.ts";
import { loadFleet, type FleetNeeds } from "./loaders/fleet.ts";
import { loadOverview, type OverviewNeeds } from "./loaders/overview.ts";
import { loadPolicies, loadPolicyEditor, type PoliciesNeeds } from "./loaders/policies.ts";
import { callsV1, managementModeOf, modeOf } from "./mode.ts";
import { makePage, PAGE, sendPage } from "./page.ts";
import { apiPage } from "./pages/api.ts";
import { FLEET_ROWS, fleetPage, MOST_FLEET_ROWS } from "./pages/fleet.ts";
import { overviewPage } from "./pages/overview.ts";
import { policiesPage } from "./pages/policies.ts";
import { policyEditorPage } from "./pages/policy-editor.ts";
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
    description:
      "HTML. The form asks `/api/v1/auth/login`, and the token stays in the browser's tab.",
    refuses: [500],
    async handle(_, { users, ...frame }: SignInNeeds) {
      const hasUsers = (await users.list(DEFAULT_ORGANIZATION)).length > 0;
      const { description } = frame;
      const body = signInPage({ hasUsers, isDemo: description.demo !== undefined });
      const mode = managementModeOf(description);
      const content = { path: "/portal/sign-in", title: "Sign in", module: "sign-in", body, mode };
      return sendPage(layOut(frame, content));
    },
  }),
  route({
    ...PAGE,
    path: EDITOR_PATH,
    summary: "The page on which a policy version is written",
    description: "HTML: the versions, and the text of the active one.",
    query: {
      from: {
        type: "string",
        description: "The version to begin with; the active one when absent.",
      },
    },
    refuses: [500],
    handle: async ({ query }, needs: PortalFrame & PoliciesNeeds) =>
      sendPage(
        await makePage(needs, {
          path: "/portal/policies",
          title: "New policy version",
          module: "policy-editor",
          load: (context) => loadPolicyEditor(needs, context, query.from),
          render: policyEditorPage,
        }),
      ),
  }),
  route({
    ...PAGE,
    path: "/portal/policies",
    summary: "The page of the policy versions",
    description: "HTML: the versions, and the text of the active one.",
    query: {
      version: { type: "string", description: "The version to show; the active one when absent." },
      against: { type: "string", description: "The version to compare it with." },
    },
    refuses: [500],
    async handle({ query }, needs: PortalFrame & PoliciesNeeds) {
      const hasActivity = callsV1(needs.description);
      const page = await makePage(needs, {
        path: "/portal/policies",
        title: "Policies",
        module: "policies",
        load: (context) => loadPolicies(needs, context, { query, hasActivity }),
        render: policiesPage,
      });
      return sendPage(page);
    },
  }),
  route({
    ...PAGE,
    path: "/portal/fleet",
    summary: "The page of the runtimes",
    description: "HTML: up to 600 runtimes; filters show the rest.",
    query: {
      q: { type: "string", description: "A part of a name, host, system, version or policy." },
      status: { type: "string", description: "The status of the runtimes to show." },
      policy: { type: "string", description: "The policy version of the runtimes to show." },
      drifted: { type: "string", description: "`true` shows those that run another version." },
      limit: {
        type: "integer",
        minimum: 1,
        maximum: MOST_FLEET_ROWS,
        default: FLEET_ROWS,
        forgiving: true,
        description: "How many rows to show.",
      },
    },
    refuses: [500],
    async handle({ query: { limit, ...query } }, needs: PortalFrame & FleetNeeds) {
      const canForget = callsV1(needs.description);
      const page = await makePage(needs, {
        path: "/portal/fleet",
        title: "Fleet",
        module: "fleet",
        load: (context) => loadFleet(needs, context, { query, limit, canForget }),
        render: fleetPage,
      });
      return sendPage(page);
    },
  }),
  route({
    ...PAGE,
    path: "/portal/api",
    summary: "The page that describes every operation",
    description: "HTML, computed from the same table as this document.",
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
