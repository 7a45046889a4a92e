/** Who is behind a request, once its credentials were accepted. */
export type Actor = UserActor | KeyActor;

/** A signed-in person. `role` restricts what the person may do while `ROLES` is `enforced`. */
export interface UserActor {
  readonly kind: "user";
  readonly id: string;
  readonly email: string;
  readonly role: string;
}

/** A runtime that showed an API key. */
export interface KeyActor {
  readonly kind: "key";
  readonly id: string;
  readonly name: string;
}

/** A token that was accepted. */
export interface ShownToken {
  /** Its signature, which no other token has. */
  readonly id: string;
  /** When it ends, in seconds since the epoch. */
  readonly exp: number;
  /** The user's credential version when it was made, if it says so. */
  readonly cv: number | undefined;
}

/** The organization a request acts in, the actor when there is one, and the actor's token. */
export interface Caller {
  readonly organization: string;
  readonly actor: Actor | undefined;
  readonly token?: ShownToken;
}

/** The id (and slug) of the organization that belongs to the operator and answers open requests. */
export const DEFAULT_ORGANIZATION = "default";

/** A value at once where nothing has to be waited for, else a promise of it. */
export type Awaitable<T> = T | Promise<T>;
