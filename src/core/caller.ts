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

/** The organization a request acts in, and the actor when there is one. */
export interface Caller {
  readonly organization: string;
  readonly actor: Actor | undefined;
}

/** The id (and slug) of the organization that belongs to the operator and answers open requests. */
export const DEFAULT_ORGANIZATION = "default";

/** A value at once where nothing has to be waited for, else a promise of it. */
export type Awaitable<T> = T | Promise<T>;
