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
