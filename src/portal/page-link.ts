/** The address of a page with parameters; empty ones are left out. */
export function pageLink(
  path: string,
  parameters: Readonly<Record<string, string | number | undefined>>,
): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value) query.set(name, String(value));
  }
  return query.size === 0 ? path : `${path}?${query}`;
}

/** The address of a policy version, or of its comparison with another one. */
export function policyLink(version: string, against?: string): string {
  return pageLink("/portal/policies", { version, against });
}
