/** The paths of the pages that others link to. */
export const AUDIT_PATH = "/portal/audit";
export const CATALOG_PATH = "/portal/catalog";
export const FLEET_PATH = "/portal/fleet";
export const POLICIES_PATH = "/portal/policies";
export const ROLLOUTS_PATH = "/portal/rollouts";

/** The address of a page with parameters; empty ones are left out, and a list repeats its parameter. */
export function pageLink(
  path: string,
  parameters: Readonly<Record<string, string | number | readonly string[] | undefined>>,
): string {
  const query = Object.entries(parameters)
    .flatMap(([name, values]) => [values].flat().map((value) => ({ name, value })))
    .filter(({ value }) => value)
    .map(({ name, value = "" }) => `${name}=${encodeURIComponent(value)}`)
    .join("&");
  return query === "" ? path : `${path}?${query}`;
}

/** The address of a runtime's page. */
export function runtimeLink(name: string): string {
  return `/portal/runtime?name=${encodeURIComponent(name)}`;
}

/** The address of the page of a person or an agent: an executor. */
export function executorLink(name: string): string {
  return `/portal/executor?name=${encodeURIComponent(name)}`;
}

/** The address of a provider's page. */
export function providerLink(id: string): string {
  return `${CATALOG_PATH}?provider=${encodeURIComponent(id)}`;
}

/** The address of the page of a rule of a version. */
export function ruleLink(version: string, id: string): string {
  return `/portal/rule?id=${encodeURIComponent(id)}&version=${encodeURIComponent(version)}`;
}

/** The address of the page of the rule of a version that gives a reason. */
export function reasonLink(version: string, reason: string): string {
  return pageLink("/portal/rule", { version, reason });
}

/** The address of a line of a policy version. */
export function lineLink(version: string, line: number): string {
  return `${policyLink(version)}#L${line}`;
}

/** The address of a policy version, or of its comparison with another one. Lists have hundreds of these. */
export function policyLink(version: string, against?: string): string {
  const other = against ? `&against=${encodeURIComponent(against)}` : "";
  return `${POLICIES_PATH}?version=${encodeURIComponent(version)}${other}`;
}

/** The address of a rollout. */
export function rolloutLink(id: string): string {
  return pageLink(ROLLOUTS_PATH, { id });
}

/** The pages of the things that fields of an event name. */
export const FIELD_LINKS: Readonly<
  Record<"executor" | "provider" | "runtime_name" | "policy", (value: string) => string>
> = {
  executor: executorLink,
  provider: providerLink,
  runtime_name: runtimeLink,
  policy: (version) => policyLink(version),
};
