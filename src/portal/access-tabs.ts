/** The parts of the Access page, in the order of its tabs; each has an address of its own. */
export const ACCESS_TABS = [
  { tab: "keys", label: "API keys" },
  { tab: "users", label: "Users" },
  { tab: "organizations", label: "Organizations" },
  { tab: "settings", label: "Settings" },
  { tab: "activity", label: "Activity" },
  { tab: "account", label: "Account" },
] as const;

export type AccessTab = (typeof ACCESS_TABS)[number]["tab"];

/** The path of Access, which shows its first tab. */
export const ACCESS_PATH = "/portal/access";

/** The path of the record of changes. */
export const ACTIVITY_PATH = `${ACCESS_PATH}/activity`;
