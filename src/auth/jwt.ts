/**
 * JSON Web Tokens (RFC 7519) with one algorithm, HS256 (RFC 7518 §3.2), by hand. The signature is
 * checked before anything in the token is parsed, and the header may only confirm what is expected:
 * a token never chooses how it is verified. Each token has exactly one accepted spelling.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { isObject } from "../core/validate.ts";

/** What Signalbox says about a user in a token. Times are seconds since the epoch. */
export interface Claims {
  /** The user's id. */
  readonly sub: string;
  readonly email: string;
  readonly role: string;
  readonly organization_id: string;
  readonly exp: number;
  readonly iat?: number;
  /** The user's credential version when the token was made. */
  readonly cv?: number;
}

const MAX_TOKEN_LENGTH = 8 * 1024;
const HEADER = encode({ alg: "HS256", typ: "JWT" });

/** Makes a token of the claims. The secret's UTF-8 bytes are the key. */
export function signToken(claims: Claims, secret: string): string {
  const signed = `${HEADER}.${encode(claims)}`;
  return `${signed}.${signatureOf(signed, secret).toString("base64url")}`;
}

/**
 * Reads the claims of a token that was signed with the secret, is in force now, and carries every
 * claim that is required. Whatever is wrong with a token, the answer is the same `undefined`.
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
  if (!isOurHeader(parse(header))) return undefined;
  const claims = parse(payload);
  return hasClaims(claims) && isInForce(claims, nowSeconds) ? claims : undefined;
}

/** What tells a token from every other one: its signature. Alone it is no credential. */
export function tokenId(token: string): string {
  return token.slice(token.lastIndexOf(".") + 1);
}

function signatureOf(signed: string, secret: string): Buffer {
  return createHmac("sha256", secret).update(signed).digest();
}

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value), "utf8").toString("base64url");
}

/** Decodes a part; `undefined` unless it is the one canonical spelling of its bytes, unpadded. */
function decode(part: string): Buffer | undefined {
  const bytes = Buffer.from(part, "base64url");
  return bytes.length > 0 && bytes.toString("base64url") === part ? bytes : undefined;
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString("utf8")) as unknown;
  } catch {
    return undefined;
  }
}

/** `typ` is for applications that mix kinds of tokens (RFC 7519 §5.1), and is not looked at. */
function isOurHeader(header: unknown): boolean {
  // `crit` names extensions that must be understood (RFC 7515 §4.1.11), and none is.
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
