/** The description of each tag in the route table, in the order of the documents. */
export const TAG_DESCRIPTIONS: ReadonlyMap<string, string> = new Map([
  ["policies", "Versioned policy documents."],
  ["audit", "The commands that runtimes allowed or denied."],
  ["fleet", "The runtimes and their presence."],
  ["runtime", "The operations by which runtimes report their presence."],
  ["catalog", "The capabilities and providers of the catalog."],
  ["providers", "Providers and their status in the organization."],
  ["dashboard", "Counts over the last 24 hours."],
  ["auth", "Signing in and out, and the signed-in user."],
  ["api-keys", "The API keys of runtimes."],
  ["users", "The users of an organization."],
  ["organizations", "The tenants. Each record belongs to one organization."],
  ["settings", "The settings of an organization."],
  ["activity", "The log of changes and sign-ins."],
  ["metadata", "The documents that describe the service."],
  ["health", "The health and the readiness of the service."],
  ["portal", "The pages of the portal and their files."],
]);
