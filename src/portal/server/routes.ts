/**
 * The portal: pages that an operator keeps open. A page is a `DataPage` in `pages/`: the parameters of
 * its address, the function that reads its model from a source, and the function that renders the model.
 * None of them imports anything of Node, so that they run on the server and in a browser alike. Only the
 * source differs. Here it is the stores (`store-source.ts`), for the default organization and where
 * anyone may read it (`mode.ts` decides); elsewhere the page is sent without data. In a browser it is the
 * API (`pages/api-source.ts`). The page's entry in `browser/entries/`, of which the build makes one module
 * with all its imports, renders into `#content` (`morph.ts` keeps focus and scroll) and adds handlers.
 * A page shows its data and its links without modules wherever that is possible.
 */
import { DEFAULT_ORGANIZATION } from "../../core/caller.ts";
import { route } from "../../http/route.ts";
import { KEPT_TEXT_HEADERS, keptText, sendKeptText } from "../../metadata/kept-text.ts";
import type { PortalPages } from "../../metadata/service.ts";
import type { UserStore } from "../../users/store.ts";
import { ACCESS_PATH, ACTIVITY_PATH } from "../access-tabs.ts";
import { assetRoutes } from "./asset-routes.ts";
import { audit } from "../pages/audit-page.ts";
import { EDITOR_PATH } from "../editor-draft.ts";
import { layOut, PAGE_HEADERS, type PortalFrame } from "./layout.ts";
import { modeOf } from "./mode.ts";
import { makePage, PAGE, pageRow, sendPage } from "./page.ts";
import { account } from "../pages/access-account.ts";
import { activity } from "../pages/access-activity.ts";
import { apiKeys } from "../pages/access-keys.ts";
import { organizations } from "../pages/access-organizations.ts";
import { organizationSettings } from "../pages/access-settings.ts";
import { users } from "../pages/access-users.ts";
import { agents } from "../pages/agents.ts";
import { apiPage } from "./api-page.ts";
import { catalog } from "../pages/catalog.ts";
import { executor } from "../pages/executor.ts";
import { fleet } from "../pages/fleet.ts";
import { overview } from "../pages/overview.ts";
import { policies } from "../pages/policies.ts";
import { policyEditor } from "../pages/policy-editor.ts";
import { rollouts } from "../pages/rollouts.ts";
import { rule } from "../pages/rule.ts";
import { runtime } from "../pages/runtime.ts";
import { signInPage } from "./sign-in-page.ts";
import { ROLLOUTS_PATH } from "../page-link.ts";
import type { StoreNeeds } from "./store-source.ts";

interface SignInNeeds extends PortalFrame {
  readonly users: Pick<UserStore, "count">;
}

const HTML_TYPE = "text/html; charset=utf-8";

/** The pages that rows outside the portal send. */
export function createPortalPages(needs: PortalFrame & StoreNeeds): PortalPages {
  return { home: (client) => makePage(overview, {}, needs, client) };
}

/** The routes of the portal's pages and files, which need no credential. */
export const portalRoutes = [
  route({
    ...PAGE,
    path: "/portal/sign-in",
    summary: "The sign-in page",
    description: "HTML for people. The token stays in the browser.",
    refuses: [500],
    async handle(_, { users, ...frame }: SignInNeeds) {
      const hasUsers = (await users.count(DEFAULT_ORGANIZATION)) > 0;
      const { description } = frame;
      const isDemo = description.demo !== undefined && modeOf(description).isOpen;
      const body = signInPage({ hasUsers, isDemo });
      const mode = modeOf(description, true);
      const content = {
        ...{ path: "/portal/sign-in", title: "Sign in", module: "sign-in", body, mode },
        isBare: true,
      } as const;
      return sendPage(layOut(frame, content));
    },
  }),
  pageRow(policyEditor, EDITOR_PATH, "The page that edits a new policy version"),
  pageRow(policies, policies.path, "The page of the policy versions"),
  pageRow(rollouts, ROLLOUTS_PATH, "The page of the rollouts of policy versions"),
  pageRow(fleet, fleet.path, "The page of the runtimes"),
  pageRow(agents, agents.path, "The page that connects AI agents and shows their machines"),
  route({
    ...PAGE,
    path: "/portal/api",
    summary: "The page that describes every operation",
    description: "HTML for people, computed from the route table.",
    ...KEPT_TEXT_HEADERS,
    replies: { 200: "text/html", 304: "text/html" },
    handle: ({ headers }, frame: PortalFrame) => {
      const { isOpen } = modeOf(frame.description);
      const kept = keptText(frame.description, `portal/api ${isOpen}`, () => apiPage(frame).html);
      return sendKeptText(kept, HTML_TYPE, headers["if-none-match"], PAGE_HEADERS);
    },
  }),
  pageRow(audit, audit.path, "The page that searches and follows audit events"),
  pageRow(runtime, "/portal/runtime", "The page of a runtime"),
  pageRow(rule, "/portal/rule", "The page of a rule of a policy version"),
  pageRow(executor, "/portal/executor", "The page of a person or an agent"),
  pageRow(catalog, catalog.path, "The page of the providers and their capabilities"),
  pageRow(apiKeys, ACCESS_PATH, "The first page of Access, the API keys"),
  pageRow(apiKeys, `${ACCESS_PATH}/keys`, "The page of the API keys"),
  pageRow(users, `${ACCESS_PATH}/users`, "The page of the users"),
  pageRow(organizations, `${ACCESS_PATH}/organizations`, "The page of the organizations"),
  pageRow(
    organizationSettings,
    `${ACCESS_PATH}/settings`,
    "The page of an organization's settings",
  ),
  pageRow(activity, ACTIVITY_PATH, "The page of the activity log"),
  pageRow(account, `${ACCESS_PATH}/account`, "The page of the user's own account"),
  ...assetRoutes,
];
