/** The scopes of API keys. A key with any other text in `scopes` acts as `runtime`. */
export const KEY_SCOPES = ["runtime", "report", "policy"] as const;
export type KeyScope = (typeof KEY_SCOPES)[number];

/**
 * The grants of routes to API keys, by the name that rows of the route table use: a description, and
 * the scopes that include the grant. `runtime` covers exactly the runtime routes of the contract.
 */
export const KEY_GRANTS = {
  "policy.read": { words: "reading policies", scopes: ["runtime", "report", "policy"] },
  "policy.publish": { words: "publishing policies", scopes: ["policy"] },
  "policy.try": { words: "trying out policies", scopes: ["policy"] },
  "audit.read": { words: "reading the audit", scopes: ["runtime"] },
  "audit.report": { words: "reporting audit events", scopes: ["runtime", "report"] },
  "fleet.report": { words: "reporting to the fleet", scopes: ["runtime", "report"] },
} as const satisfies Readonly<
  Record<string, { readonly words: string; readonly scopes: readonly KeyScope[] }>
>;
export type KeyGrant = keyof typeof KEY_GRANTS;

/** Whether a text is one of the scopes. */
export function isKeyScope(text: string): text is KeyScope {
  return (KEY_SCOPES as readonly string[]).includes(text);
}

/** The scope that a key acts with. */
export function scopeOf(text: string): KeyScope {
  return isKeyScope(text) ? text : "runtime";
}

/** The scopes that include a grant. */
export function scopesOf(grant: KeyGrant): readonly KeyScope[] {
  return KEY_GRANTS[grant].scopes;
}

/** The permissions of a scope, in words: `reading policies and reporting audit events`. */
export function scopeInWords(scope: KeyScope): string {
  const words = Object.values(KEY_GRANTS)
    .filter(({ scopes }) => (scopes as readonly KeyScope[]).includes(scope))
    .map(({ words }) => words);
  return `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}
