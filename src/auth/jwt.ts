/**
 * JSON Web Tokens (RFC 7519) with one algorithm, HS256 (RFC 7518 §3.2), without a library. The signature is
 * checked before any part of the token is parsed, and the header must state the expected algorithm: a token
 * never chooses how it is verified. Each token has exactly one accepted spelling.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { jsonOrUndefined } from "../core/json/json.ts";
import { isObject } from "../core/validate.ts";

/** The claims of Signalbox about a user. Times are seconds since the epoch. */
export interface Claims {
  /** The user's id. */
  readonly sub: string;
  readonly email: string;
  readonly role: string;
  readonly organization_id: string;
  readonly exp: number;
  readonly iat?: number;
  /** The user's credential version when the token was issued. */
  readonly cv?: number;
}

const MAX_TOKEN_LENGTH = 8 * 1024;
const HEADER = encode({ alg: "HS256", typ: "JWT" });

/** Signs claims. The secret's UTF-8 bytes are the key. */
export function signToken(claims: Claims, secret: string): string {
  const signed = `${HEADER}.${encode(claims)}`;
  return `${signed}.${signatureOf(signed, secret).toString("base64url")}`;
}

/**
 * Reads the claims of a token that was signed with the secret, is valid now, and carries every
 * required claim. It returns `undefined` for every other token, without a reason.
 */
export function verifyToken(token: string, secret: string, nowSeconds: number): Claims | undefined {
  if (token.length > MAX_TOKEN_LENGTH) return undefined;
  const parts = token.split(".");
  if (parts.length !== 3) return undefined;
  const [header, payload, signature] = parts.map(decode);
  if (!header || !payload || !signature) return undefined;
  const expected = signatureOf(token.slice(0, token.lastIndexOf(".")), secret);
  if (signature.length !== expected.length || !timingSafeEqual(signature, expected)) {
    return undefined;
  }
  if (!isOurHeader(jsonOrUndefined(header.toString("utf8")))) return undefined;
  const claims = jsonOrUndefined(payload.toString("utf8"));
  return hasClaims(claims) && isInForce(claims, nowSeconds) ? claims : undefined;
}

/** The id of a token: its signature. The signature alone gives no access. */
export function tokenId(token: string): string {
  return token.slice(token.lastIndexOf(".") + 1);
}

function signatureOf(signed: string, secret: string): Buffer {
  return createHmac("sha256", secret).update(signed).digest();
}

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value), "utf8").toString("base64url");
}

/** Decodes a part; `undefined` unless it is the canonical base64url of its bytes, unpadded. */
function decode(part: string): Buffer | undefined {
  const bytes = Buffer.from(part, "base64url");
  return bytes.length > 0 && bytes.toString("base64url") === part ? bytes : undefined;
}

/** `typ` is ignored: it is for applications that mix kinds of tokens (RFC 7519 §5.1). */
function isOurHeader(header: unknown): boolean {
  // `crit` names extensions that must be understood (RFC 7515 §4.1.11); we support none.
  return isObject(header) && header["alg"] === "HS256" && !Object.hasOwn(header, "crit");
}

type UnprovenClaims = { readonly [K in keyof Claims | "nbf"]?: unknown };

function hasClaims(value: unknown): value is Claims & UnprovenClaims {
  if (!isObject(value)) return false;
  const claims: UnprovenClaims = value;
  const texts = [claims.sub, claims.email, claims.role, claims.organization_id];
  const optional = [claims.nbf, claims.iat, claims.cv];
  return (
    texts.every((text) => typeof text === "string" && text !== "") &&
    Number.isFinite(claims.exp) &&
    optional.every((number) => number === undefined || Number.isFinite(number))
  );
}

function isInForce(claims: Claims & UnprovenClaims, nowSeconds: number): boolean {
  return nowSeconds < claims.exp && (claims.nbf === undefined || Number(claims.nbf) <= nowSeconds);
}
