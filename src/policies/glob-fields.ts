/** The fields of a rule's match that list globs, each with its field of a command. */
export const globFields = {
  providers: "provider",
  capabilities: "capability",
  consumers: "consumer",
  executors: "executor",
  resources: "resource",
} as const;
export type GlobField = keyof typeof globFields;
/** A field of a command that globs match. */
export type FactField = (typeof globFields)[GlobField];
export const GLOB_FIELDS = Object.keys(globFields) as GlobField[];
