/** The description of each tag in the route table, in the order of the documents. */
export const TAG_DESCRIPTIONS: ReadonlyMap<string, string> = new Map([
  ["policies", "Versioned policy documents: publish, fetch, roll back, try out."],
  ["audit", "What runtimes report about the commands that they ran or refused."],
  ["fleet", "The runtimes that report here, and how long each has been silent."],
  ["runtime", "What runtimes themselves call to say that they are there."],
  ["catalog", "The capabilities and providers that runtimes know."],
  ["providers", "Providers with their status in an organization."],
  ["dashboard", "Counts over the last 24 hours."],
  ["auth", "Signing in, and who is signed in."],
  ["api-keys", "API keys, with which runtimes authenticate."],
  ["users", "The people of an organization."],
  ["organizations", "Tenants; each record belongs to exactly one."],
  ["settings", "An organization's own settings."],
  ["activity", "Who changed what, and who signed in or tried to."],
  ["metadata", "What this service is, and the documents that describe it."],
  ["health", "Whether the service runs and can do its work."],
  ["portal", "Pages for people, and what belongs to them."],
]);
