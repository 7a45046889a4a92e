import { createHash, timingSafeEqual } from "node:crypto";
import { bearerToken } from "../auth/caller.ts";
import { Unauthenticated } from "../core/errors.ts";

/** Demands a token before the metrics are shown; compares in constant time. */
export function requireToken(expected: string, authorization: string | undefined): void {
  const given = authorization === undefined ? undefined : bearerToken(authorization);
  if (given === undefined) {
    throw new Unauthenticated("A token is required: send that of METRICS as a bearer token");
  }
  // Hashes are of one length, so that the comparison does not tell the token's.
  if (!timingSafeEqual(hash(given), hash(expected))) {
    throw new Unauthenticated("This is not the token of METRICS", { tokenRefused: true });
  }
}

function hash(token: string): Buffer {
  return createHash("sha256").update(token, "utf8").digest();
}
