/** Both prefixes of the routes that are shared. */
export const SURFACES = ["/api/public", "/api/v1"] as const;

export type Prefix = (typeof SURFACES)[number];
