import { createHash, timingSafeEqual } from "node:crypto";
import { bearerToken } from "../auth/caller.ts";
import { Unauthenticated } from "../core/errors.ts";

/** Checks the token of a reader of metrics, in constant time. */
export function requireToken(expected: string, authorization: string | undefined): void {
  const given = authorization === undefined ? undefined : bearerToken(authorization);
  if (given === undefined) {
    throw new Unauthenticated("A token is required: send the token of METRICS as a bearer token");
  }
  // Hashes have equal lengths, so the comparison does not reveal the token's length.
  if (!timingSafeEqual(hash(given), hash(expected))) {
    throw new Unauthenticated("This is not the token of METRICS", { tokenRefused: true });
  }
}

function hash(token: string): Buffer {
  return createHash("sha256").update(token, "utf8").digest();
}
