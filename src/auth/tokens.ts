import { randomBytes } from "node:crypto";
import { HOUR_MS, type Clock } from "../core/clock.ts";
import { signToken } from "./jwt.ts";

const ID_BYTES = 12;

/** The user for whom a token is issued. */
export interface TokenSubject {
  readonly id: string;
  readonly email: string;
  readonly role: string;
  readonly organization_id: string;
  readonly credential_version: number;
}

/** A token, and its expiry in milliseconds since the epoch. */
export interface IssuedToken {
  readonly token: string;
  readonly expiresAt: number;
}

/** Issues tokens to users who have just signed in. */
export interface TokenIssuer {
  issue(subject: TokenSubject): IssuedToken;
}

/** Creates an issuer of tokens. `hours` is their lifetime, rounded up to whole seconds. */
export function createTokenIssuer(secret: string, hours: number, now: Clock): TokenIssuer {
  const lifetimeSeconds = Math.ceil((hours * HOUR_MS) / 1_000);
  return {
    issue({ id, email, role, organization_id, credential_version }) {
      const iat = Math.floor(now() / 1_000);
      const exp = iat + lifetimeSeconds;
      const claims = {
        sub: id,
        email,
        role,
        organization_id,
        iat,
        exp,
        cv: credential_version,
        jti: randomBytes(ID_BYTES).toString("base64url"), // otherwise two tokens of the same second would be equal
      };
      return { token: signToken(claims, secret), expiresAt: exp * 1_000 };
    },
  };
}
