/** Where a version, or what makes it differ from another, is shown. */
export function policyLink(version: string, against?: string): string {
  const other = against === undefined ? "" : `&against=${encodeURIComponent(against)}`;
  return `/portal/policies?version=${encodeURIComponent(version)}${other}`;
}
