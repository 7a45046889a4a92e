/** The keys of documents of the schema `signalbox/policy/v1`, by their place. The browser's editor completes them. */

/** The value of `schema` that makes a document one of ours. */
export const SCHEMA_NAME = "signalbox/policy/v1";
/** Follows "valid" for a document of another schema, which is stored as it is for a runtime that has its own. */
export const UNCHECKED = `, but its rules are not checked without "schema: ${SCHEMA_NAME}"`;

/** The id of a capability. Those of MCP tools have a third part, as in `mcp/github/create_issue`. */
export const CAPABILITY = "^[^/\\s]+(?:/[^/\\s]+)+$";

export const ROOT_KEYS = [
  "schema",
  "name",
  "description",
  "metadata",
  "default",
  "mode",
  "rules",
  "tests",
] as const;

export const RULE_KEYS = [
  "id",
  "effect",
  "description",
  "reason",
  "enabled",
  "match",
  "except",
] as const;

export const MATCH_KEYS = [
  "commands",
  "providers",
  "capabilities",
  "consumers",
  "executors",
  "resources",
] as const;

export const PATTERN_KEYS = ["exact", "prefix", "glob"] as const;

export const TEST_KEYS = [
  "command",
  "provider",
  "capability",
  "consumer",
  "executor",
  "resource",
  "expect",
  "rule",
] as const;
