/** Both prefixes of the shared routes. */
export const SURFACES = ["/api/public", "/api/v1"] as const;

export type Prefix = (typeof SURFACES)[number];
