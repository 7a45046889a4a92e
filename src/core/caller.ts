import { SECOND_MS, type Clock } from "./clock.ts";
import { Forbidden, Refusal, Unauthenticated, Unavailable } from "./errors.ts";

/** The credentials in a request's headers; `undefined` if a header was not sent. */
export interface Credentials {
  readonly authorization: string | undefined;
  readonly apiKey: string | undefined;
}

/** The user or API key behind a request whose credentials were accepted. */
export type Actor = UserActor | KeyActor;

/** A signed-in user. `role` restricts the user while `ROLES` is `enforced`. */
export interface UserActor {
  readonly kind: "user";
  readonly id: string;
  readonly email: string;
  readonly role: string;
}

/** A runtime with an API key. */
export interface KeyActor {
  readonly kind: "key";
  readonly id: string;
  readonly name: string;
}

/** An accepted token. */
export interface ShownToken {
  /** The token's signature, which is unique. */
  readonly id: string;
  /** The expiry, in seconds since the epoch. */
  readonly exp: number;
  /** The user's credential version when the token was issued, if the token states it. */
  readonly cv: number | undefined;
}

/** The organization that a request acts in, its actor if there is one, and the actor's token. */
export interface Caller {
  readonly organization: string;
  readonly actor: Actor | undefined;
  readonly token?: ShownToken;
}

/** The id (and slug) of the operator's organization, to which open requests belong. */
export const DEFAULT_ORGANIZATION = "default";

/** A value if it is available now, otherwise a promise of it. */
export type Awaitable<T> = T | Promise<T>;

/** Calls `next` with a value, at once if the value is available: a promise costs a tenth of the hot path. */
export function whenReady<T, U>(
  value: Awaitable<T>,
  next: (value: T) => Awaitable<U>,
): Awaitable<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/**
 * Whether credentials that were accepted before are still accepted, for the same organization.
 *
 * @param resolve resolves the caller, or throws the refusal
 * @throws Unavailable if the credentials cannot be looked up: they may still be valid; Forbidden if the role does not
 *   include the request any more
 */
export async function isAccepted(
  resolve: () => Awaitable<Caller>,
  organization: string | undefined,
): Promise<boolean> {
  try {
    return (await resolve()).organization === organization;
  } catch (error) {
    const isEnd = error instanceof Refusal && !(error instanceof Unavailable);
    if (isEnd && !(error instanceof Forbidden)) return false;
    throw error;
  }
}

/**
 * Refuses to go on if credentials that were accepted before have ended.
 *
 * @param isAllowed checks the credentials; see `isAccepted`
 * @throws Unauthenticated with `message`
 */
export async function requireAccepted(
  isAllowed: () => Awaitable<boolean>,
  message: string,
): Promise<void> {
  if (!(await isAllowed())) throw new Unauthenticated(message, { tokenRefused: true });
}

/** The interval at which the credentials of long work are checked again. */
export const CHECK_EVERY_MS = 15 * SECOND_MS;

/**
 * Makes the check of long work, to be called before each of its steps: it checks the credentials again when
 * `CHECK_EVERY_MS` have passed, and throws as `requireAccepted` does.
 */
export function regularCheck(
  isAllowed: () => Awaitable<boolean>,
  now: Clock,
  message: string,
): () => Promise<void> {
  let checkedAt = now();
  return async () => {
    // The clock may be set back.
    if (Math.abs(now() - checkedAt) < CHECK_EVERY_MS) return;
    await requireAccepted(isAllowed, message);
    checkedAt = now();
  };
}
