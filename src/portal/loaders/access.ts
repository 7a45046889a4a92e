import type { ActivityStore } from "../../activity/store.ts";
import type { AuditStore } from "../../audit/store.ts";
import { DEFAULT_ORGANIZATION } from "../../core/caller.ts";
import { apiKeyOf } from "../../keys/draft.ts";
import type { KeyStore } from "../../keys/store.ts";
import type { OrganizationStore } from "../../organizations/store.ts";
import { settingsAnswer, type SettingsConfig } from "../../settings/answer.ts";
import type { SettingsStore } from "../../settings/store.ts";
import { userOf } from "../../users/draft.ts";
import type { UserStore } from "../../users/store.ts";
import { ACTIVITY_ROWS, type ActivityView } from "../activity-view.ts";
import type { ActivityModel } from "../pages/access-activity.ts";
import type { KeysModel } from "../pages/access-keys.ts";
import type { OrganizationsModel } from "../pages/access-organizations.ts";
import type { SettingsModel } from "../pages/access-settings.ts";
import type { UsersModel } from "../pages/access-users.ts";
import type { PageContext } from "../pages/parts.ts";
import { rowsOf } from "./events.ts";

/** What the tabs of Access are read from. */
export interface AccessNeeds {
  readonly keys: Pick<KeyStore, "list">;
  readonly users: Pick<UserStore, "list">;
  readonly organizations: Pick<OrganizationStore, "list">;
  readonly settings: Pick<SettingsStore, "list">;
  readonly audit: Pick<AuditStore, "usage">;
  readonly activity: Pick<ActivityStore, "page">;
  readonly config: SettingsConfig;
}

/** Reads the API keys of the default organization. */
export async function loadKeys({ keys }: AccessNeeds, context: PageContext): Promise<KeysModel> {
  return { ...context, keys: (await keys.list(DEFAULT_ORGANIZATION)).map(apiKeyOf) };
}

/** Reads the users of the default organization. */
export async function loadUsers({ users }: AccessNeeds, context: PageContext): Promise<UsersModel> {
  return { ...context, users: (await users.list(DEFAULT_ORGANIZATION)).map(userOf) };
}

/** Reads all organizations, which the default one's callers see. */
export async function loadOrganizations(
  { organizations }: AccessNeeds,
  context: PageContext,
): Promise<OrganizationsModel> {
  return { ...context, organizations: await organizations.list() };
}

/** Reads the settings of the default organization. */
export async function loadSettings(
  { settings, audit, config }: AccessNeeds,
  context: PageContext,
): Promise<SettingsModel> {
  const [pairs, usage] = await Promise.all([
    settings.list(DEFAULT_ORGANIZATION),
    audit.usage(DEFAULT_ORGANIZATION),
  ]);
  return { ...context, answer: settingsAnswer(DEFAULT_ORGANIZATION, pairs, usage, config) };
}

/** Reads a part of the record of changes of the default organization. */
export async function loadActivity(
  { activity }: AccessNeeds,
  context: PageContext,
  view: ActivityView,
): Promise<ActivityModel> {
  const { offset, ...filter } = view;
  const rows = await activity.page(DEFAULT_ORGANIZATION, filter, ACTIVITY_ROWS, offset);
  return { ...context, view, entries: await rowsOf(rows), total: rows.total };
}
