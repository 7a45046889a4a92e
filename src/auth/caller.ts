/**
 * Turns credentials into a caller. Invalid credentials are always refused, even where none are
 * required: such a request is never treated as anonymous.
 */
import {
  DEFAULT_ORGANIZATION,
  whenReady,
  type Awaitable,
  type Caller,
  type Credentials,
  type ShownToken,
  type UserActor,
} from "../core/caller.ts";
import type { Clock } from "../core/clock.ts";
import { Forbidden, Unauthenticated } from "../core/errors.ts";
import { KEY_GRANTS, scopeOf, scopesOf, type KeyGrant } from "../core/key-scopes.ts";
import { includesRole, roleOf, rolesFrom, type Role, type RolesMode } from "../core/roles.ts";
import { hashApiKey } from "./api-key.ts";
import { tokenId, verifyToken, type Claims } from "./jwt.ts";

/** The access that a row of the route table requires. */
export interface Demand {
  readonly access: "open" | "user" | "always";
  readonly keys?: KeyGrant;
  readonly role?: Role;
}

/** The properties of a user that decide whether a token is accepted. */
export interface Account {
  readonly id: string;
  readonly email: string;
  readonly role: string;
  readonly active: boolean;
  readonly organization_id: string;
  readonly credential_version: number;
  /** The ids of tokens that were ended before their expiry. */
  readonly ended_tokens?: readonly { readonly id: string }[] | undefined;
}

/** The properties of an API key that decide whether it is accepted. */
export interface KnownKey {
  readonly id: string;
  readonly name: string;
  readonly organization_id: string;
  readonly scopes: string;
  readonly revoked: boolean;
  /** In RFC 3339; `undefined` if it never expires. */
  readonly expires_at?: string | undefined;
}

/** The look-ups of the resolver. It answers synchronously if they do. */
export interface CallerParts {
  /** Called on every request. */
  readonly requireAuth: () => boolean;
  readonly roles: RolesMode;
  readonly secret: string;
  readonly now: Clock;
  readonly users: { findById(id: string): Awaitable<Account | undefined> };
  readonly keys: {
    findByHash(hash: string): Awaitable<KnownKey | undefined>;
    /** Called on each accepted use of a key. */
    touch(organization: string, id: string, now: number): void;
  };
}

/** Resolves a caller, or throws (or rejects with) `Unauthenticated` or `Forbidden`. */
export type CallerResolver = (
  demand: Demand,
  surface: "public" | "v1" | "portal",
  credentials: Credentials,
) => Awaitable<Caller>;

interface Person {
  readonly actor: UserActor;
  readonly organization: string;
  readonly token: ShownToken;
}

const ANYONE: Caller = { organization: DEFAULT_ORGANIZATION, actor: undefined };
const BEARER = /^bearer(?:[ \t]+(\S.*)?)?$/i;

/** Creates the function that turns the credentials of every request into its caller. */
export function createCallerResolver(parts: CallerParts): CallerResolver {
  return (demand, surface, { authorization, apiKey }) => {
    if (surface !== "v1" || demand.access === "open") return ANYONE;
    const token = authorization === undefined ? undefined : bearerToken(authorization);
    if (token === undefined && apiKey === undefined) return withoutCredentials(parts, demand);
    // An invalid token is reported before an invalid key.
    return whenReady(token === undefined ? undefined : findPerson(parts, demand, token), (person) =>
      whenReady(apiKey === undefined ? undefined : findKey(parts, apiKey), (key) =>
        decide(parts, demand, person, key),
      ),
    );
  };
}

/** The token of a Bearer header, `""` for a header without a token; `undefined` for every other scheme. */
export function bearerToken(authorization: string): string | undefined {
  const match = BEARER.exec(authorization.trim());
  return match ? (match[1] ?? "") : undefined;
}

function withoutCredentials(parts: CallerParts, demand: Demand): Caller {
  if (demand.access !== "always" && !parts.requireAuth()) return ANYONE;
  throw takesRuntimeKeys(demand)
    ? new Unauthenticated(
        "Credentials are required: send a bearer token, or an API key as X-API-Key",
      )
    : tokenRequired();
}

function takesRuntimeKeys({ keys }: Demand): boolean {
  return keys !== undefined && scopesOf(keys).includes("runtime");
}

function decide(
  parts: CallerParts,
  demand: Demand,
  person: Person | undefined,
  key: KnownKey | undefined,
): Caller {
  if (person && key && person.organization !== key.organization_id) {
    throw new Unauthenticated("The token and the API key belong to different organizations");
  }
  // The user acts, so the role binds and the key's scope does not.
  if (person) checkRole(parts, demand, person);
  else if (key) checkScope(parts, demand, key);
  if (key) parts.keys.touch(key.organization_id, key.id, parts.now());
  if (person) return person;
  if (!key) throw new Error("Without a credential nothing is decided here");
  const { id, name, organization_id: organization } = key;
  return { organization, actor: { kind: "key", id, name } };
}

function checkRole({ roles }: CallerParts, { role: needed }: Demand, { actor }: Person): void {
  if (roles === "carried" || needed === undefined) return;
  const own = roleOf(actor.role);
  if (includesRole(own, needed)) return;
  throw new Forbidden(`This takes the role ${rolesFrom(needed)}; yours is ${own}`);
}

/**
 * Checks the scope of a key that was sent without a token. By the contract, a `runtime` key is accepted on
 * routes outside its scope too, unless credentials are required there. The other scopes always restrict.
 */
function checkScope({ requireAuth }: CallerParts, { access, keys }: Demand, key: KnownKey): void {
  const scope = scopeOf(key.scopes);
  if (keys !== undefined && scopesOf(keys).includes(scope)) return;
  if (access === "always") throw tokenRequired();
  if ((keys === undefined || scope === "runtime") && requireAuth()) throw tokenRequired();
  if (scope === "runtime") return;
  const what = keys === undefined ? "what only users may do" : KEY_GRANTS[keys].words;
  throw new Forbidden(`This API key has the scope ${scope}, which does not include ${what}`);
}

function findPerson(parts: CallerParts, demand: Demand, token: string): Awaitable<Person> {
  const claims = verifyToken(token, parts.secret, parts.now() / 1_000);
  if (!claims) throw tokenRefused();
  const shown = { id: tokenId(token), exp: claims.exp, cv: claims.cv };
  return whenReady(parts.users.findById(claims.sub), (found) =>
    personOf(claims, shown, found, demand),
  );
}

function personOf(
  claims: Claims,
  token: ShownToken,
  account: Account | undefined,
  demand: Demand,
): Person {
  if (!account) {
    // Routes about the caller alone must handle a deleted user themselves.
    if (demand.access !== "always") throw tokenRefused();
    const { sub: id, email, role, organization_id: organization } = claims;
    return { organization, actor: { kind: "user", id, email, role }, token };
  }
  const isCurrent = claims.cv === undefined || claims.cv === account.credential_version;
  const isEnded = account.ended_tokens?.some(({ id }) => id === token.id) ?? false;
  const isOwn = claims.organization_id === account.organization_id;
  if (!account.active || !isCurrent || isEnded || !isOwn) throw tokenRefused();
  const { id, email, role, organization_id: organization } = account;
  return { organization, actor: { kind: "user", id, email, role }, token };
}

function findKey({ keys, now }: CallerParts, text: string): Awaitable<KnownKey> {
  const hash = hashApiKey(text);
  return whenReady(hash === undefined ? undefined : keys.findByHash(hash), (key) => {
    if (!key || key.revoked || hasExpired(key, now)) {
      throw new Unauthenticated("The API key is unknown, was revoked or has expired");
    }
    return key;
  });
}

function hasExpired({ expires_at }: KnownKey, now: Clock): boolean {
  // An unreadable date counts as expired: a date that an editor damaged gives no access.
  return expires_at !== undefined && !(now() < Date.parse(expires_at));
}

function tokenRequired(): Unauthenticated {
  return new Unauthenticated("A token is required: sign in and send it as a bearer token");
}

function tokenRefused(): Unauthenticated {
  return new Unauthenticated("The token is not valid or has expired: sign in again", {
    tokenRefused: true,
  });
}
