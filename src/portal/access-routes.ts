import { route } from "../http/route.ts";
import { ACCESS_PATH } from "./access-tabs.ts";
import type { PortalFrame } from "./layout.ts";
import {
  loadActivity,
  loadKeys,
  loadOrganizations,
  loadSettings,
  loadUsers,
  type AccessNeeds,
} from "./loaders/access.ts";
import { managementModeOf } from "./mode.ts";
import { makePage, PAGE, sendPage, type DataPage } from "./page.ts";
import { accountPage } from "./pages/access-account.ts";
import { activityPage } from "./pages/access-activity.ts";
import { keysPage } from "./pages/access-keys.ts";
import { organizationsPage } from "./pages/access-organizations.ts";
import { settingsPage } from "./pages/access-settings.ts";
import { usersPage } from "./pages/access-users.ts";

type Needs = PortalFrame & AccessNeeds;

/** The pages about who may do what, and who did. */
export const accessPageRoutes = [
  route({
    ...PAGE,
    path: ACCESS_PATH,
    summary: "The page of the API keys, which Access begins with",
    description: "HTML. The same page as `/portal/access/keys`.",
    refuses: [500],
    handle: (_, needs: Needs) => keys(needs),
  }),
  route({
    ...PAGE,
    path: `${ACCESS_PATH}/keys`,
    summary: "The page of the API keys",
    description: "HTML: keys are created and revoked here.",
    refuses: [500],
    handle: (_, needs: Needs) => keys(needs),
  }),
  route({
    ...PAGE,
    path: `${ACCESS_PATH}/users`,
    summary: "The page of the users",
    description: "HTML: users are created, changed and deleted here.",
    refuses: [500],
    handle: (_, needs: Needs) =>
      send(needs, {
        title: "Users",
        module: "access-users",
        load: (context) => loadUsers(needs, context),
        render: usersPage,
      }),
  }),
  route({
    ...PAGE,
    path: `${ACCESS_PATH}/organizations`,
    summary: "The page of the organizations",
    description: "HTML: organizations are created and renamed here.",
    refuses: [500],
    handle: (_, needs: Needs) =>
      send(needs, {
        title: "Organizations",
        module: "access-organizations",
        load: (context) => loadOrganizations(needs, context),
        render: organizationsPage,
      }),
  }),
  route({
    ...PAGE,
    path: `${ACCESS_PATH}/settings`,
    summary: "The page of the organization's settings",
    description: "HTML: the pairs are changed here.",
    refuses: [500],
    handle: (_, needs: Needs) =>
      send(needs, {
        title: "Settings",
        module: "access-settings",
        load: (context) => loadSettings(needs, context),
        render: settingsPage,
      }),
  }),
  route({
    ...PAGE,
    path: `${ACCESS_PATH}/activity`,
    summary: "The page of who changed what",
    description: "HTML: the activity log with its filters.",
    query: {
      action: { type: "string", description: "An action, or the kind before its dot." },
      actor: { type: "string", description: "An id, email or name; `anonymous` for nobody known." },
      target: { type: "string", description: "The id or name of what was changed." },
      q: { type: "string", description: "Text that an entry must contain." },
      offset: {
        type: "integer",
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        default: 0,
        forgiving: true,
        description: "How many entries to skip, counted from the newest.",
      },
    },
    refuses: [500],
    handle: ({ query }, needs: Needs) =>
      send(needs, {
        title: "Activity",
        module: "access-activity",
        load: (context) => loadActivity(needs, context, query),
        render: activityPage,
      }),
  }),
  route({
    ...PAGE,
    path: `${ACCESS_PATH}/account`,
    summary: "The page of one's own account",
    description: "HTML: the own password is changed here.",
    refuses: [500],
    handle: (_, needs: Needs) =>
      send(needs, {
        title: "Account",
        module: "access-account",
        load: (context) => ({ ...context, user: undefined }),
        render: accountPage,
      }),
  }),
];

function keys(needs: Needs) {
  return send(needs, {
    title: "API keys",
    module: "access-keys",
    load: (context) => loadKeys(needs, context),
    render: keysPage,
  });
}

async function send<Model>(needs: Needs, page: Omit<DataPage<Model>, "path" | "mode">) {
  const mode = managementModeOf(needs.description);
  return sendPage(await makePage(needs, { ...page, path: ACCESS_PATH, mode }));
}
