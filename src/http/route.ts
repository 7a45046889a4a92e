/**
 * The type of an endpoint. A row is static data and closes over nothing. The router, the validation
 * of bodies and parameters, the OpenAPI document, the metadata documents and the portal's API page
 * are all computed from the rows, so they cannot drift apart.
 */
import type { Actor, Caller, ShownToken, UserActor } from "../core/caller.ts";
import type { KeyGrant } from "../core/key-scopes.ts";
import type { Role } from "../core/roles.ts";
import type { Infer, Schema, StringSchema } from "../core/schema.ts";
import type { QueryOf, QueryParameters } from "./query.ts";
import type { Reply } from "./reply.ts";
import type { WaitingClient } from "./waiting-client.ts";

/** `public` is `/api/public`, `v1` is `/api/v1`, and `portal` has no prefix. */
export type Surface = "public" | "v1" | "portal";

/** The path prefix of every surface. */
export const PREFIXES: Readonly<Record<Surface, string>> = {
  public: "/api/public",
  v1: "/api/v1",
  portal: "",
};

/**
 * The credentials that a row requires. `open`: none. `user`: a token, or an API key with the row's `keys`;
 * enforced only on `/api/v1` and only while `REQUIRE_AUTH` is true. `always`: a token, even if
 * authentication is off.
 */
export type Access = "open" | "user" | "always";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/**
 * The time at which a large answer gives back its turn (`turns.ts`): when it is `made`, or when it is `sent`
 * if it holds memory until the reader has it. `searched` answers take turns with other searches, which may
 * take seconds, and give the turn back when their rows are found. A `listed` answer is short: only the number that is
 * made at a time is limited, since each may take a connection to a database.
 */
export type LargeAnswer = "made" | "sent" | "searched" | "listed";

/** The statuses of a row's refusals, apart from those that its access and body imply. */
export type RefusedStatus = 400 | 401 | 403 | 404 | 409 | 413 | 429 | 500 | 503 | 507;

export type HeaderParameters = Readonly<Record<string, StringSchema>>;

/** A body that a function validates, because a schema alone cannot describe it. */
export interface CustomBody<T> {
  readonly schema: Schema;
  /** Pure; throws `BadInput`. */
  readonly read: (value: unknown) => T;
}

/** The shape of a response: a JSON schema, or a media type other than JSON. */
export type OneReplyShape = Schema | string;

/** One shape, or several if the request decides between media types. */
export type ReplyShape = OneReplyShape | readonly OneReplyShape[];

/** The shapes by status. Of the refusals, only those that have more than an error. */
type Replies = Readonly<Partial<Record<200 | 201 | 202 | 204 | 304 | 409, ReplyShape>>>;

type ParamsOf<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? { readonly [K in Name]: string } & ParamsOf<Rest>
  : unknown;

type BodyOf<B> = B extends CustomBody<infer T> ? T : B extends Schema ? Infer<B> : undefined;

/** The answers that a handler may return: a plain value of the declared shape (200), or a reply. */
type Answer<R extends Replies> = Reply | (R[200] extends Schema ? Infer<R[200]> : never);

/** The JSON of a successful answer, if it is JSON. */
type AnswerValue<R extends Replies> =
  | (R[200] extends Schema ? Infer<R[200]> : never)
  | (R[201] extends Schema ? Infer<R[201]> : never);

/** Facts for the activity log, by the names that users know. No secrets. */
export type ChangeFacts = Readonly<Record<string, unknown>>;

/** The object of a change. `id` or `name` may be unknown after a failure. */
export interface ChangeTarget {
  readonly type: string;
  readonly id?: string | undefined;
  readonly name?: string | undefined;
}

/** How a change is recorded: data and pure functions, like the rest of a row. */
export interface Change<I, V> {
  /** A permanent name, such as `policy.publish`. */
  readonly action: string;
  /** `answer` is `undefined` if the change failed or its answer is not JSON. */
  target(input: I, answer: V | undefined): ChangeTarget;
  /** The state after the change, without secrets, since entries are kept for a long time. */
  after?(input: I, answer: V): ChangeFacts;
  /**
   * Set if the row only reads data. It is then recorded only for users and keys, since each entry is a synced write
   * and anyone could repeat a request without credentials; and not more than `READINGS_AN_HOUR` times for each of them.
   */
  readonly isReading?: true;
  /** The actions under which refusals are recorded, by status; other refusals are not recorded. */
  readonly refusals?: Readonly<Partial<Record<number, string>>>;
}

/** Facts for the record of a change that only its handler knows. */
export interface ChangeNote {
  /** The state before the change, without secrets. If it equals `after`, there is no entry. */
  readonly before?: ChangeFacts | undefined;
  /** The state after the change, if the row cannot compute it from input and answer. */
  readonly after?: ChangeFacts | undefined;
  /** The caller and the organization, if they do not come from credentials in headers. */
  readonly caller?: Caller | undefined;
}

/** The input of a handler, already checked and typed by the row. */
export interface Input<
  Path extends string,
  A extends Access,
  Q extends QueryParameters,
  H extends HeaderParameters,
  B,
> {
  /** The organization the request acts in. */
  readonly organization: string;
  readonly actor: A extends "always" ? UserActor : Actor | undefined;
  /** The token of the request; `undefined` if it has a key or no credentials. */
  readonly token: A extends "always" ? ShownToken : ShownToken | undefined;
  readonly surface: Surface;
  /** Whether only the headers are requested. The handler must then not use up anything, such as a ticket. */
  readonly isHead: boolean;
  readonly params: ParamsOf<Path>;
  readonly query: QueryOf<Q>;
  /** The declared headers, under the row's names; `undefined` when not sent. */
  readonly headers: { readonly [K in keyof H]: string | undefined };
  readonly body: BodyOf<B>;
  /** The caller's IP address, as seen through trusted proxies. */
  readonly address: string;
  readonly requestId: string;
  /** The waiting client, for long-running work. */
  readonly client: WaitingClient;
  /** Adds facts to the record of this change; does nothing in a row without `change`. */
  readonly note: (note: ChangeNote) => void;
}

/**
 * The lowest role that may call a row on `/api/v1` while `ROLES` is `enforced`. GET rows have no role, since
 * every role may read, and open rows have none, since they have no user. Every other row must state a role.
 */
type RoleField<M extends Method, A extends Access> = M extends "GET"
  ? { readonly role?: never }
  : A extends "open"
    ? { readonly role?: never }
    : { readonly role: Role };

/** A path parameter, as documented. */
export interface PathParameter extends StringSchema {
  readonly description: string;
  readonly examples: readonly [string, ...string[]];
}

interface RowFields<M extends Method, Path extends string, A extends Access, Q, H, B, R> {
  readonly method: M;
  /** Without the surface's prefix; `{name}` stands for one segment. */
  readonly path: Path;
  readonly surfaces: readonly Surface[];
  readonly access: A;
  /** The grant that an API key needs here. Without it, keys are refused while `REQUIRE_AUTH` is true. */
  readonly keys?: KeyGrant;
  /** The message of the 403 for callers of other organizations than the default one. */
  readonly defaultOnly?: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  /** The path parameters by name. A value that does not match its schema gives a 404. */
  readonly params?: Readonly<Record<string, PathParameter>>;
  readonly query?: Q;
  readonly headers?: H;
  readonly body?: B;
  readonly replies: R;
  /** Descriptions of the headers of successful responses, beside the common ones. */
  readonly replyHeaders?: Readonly<Record<string, string>>;
  readonly refuses?: readonly RefusedStatus[];
  /** Set if the answer is large or takes long to make. The request then waits for its turn. */
  readonly large?: LargeAnswer;
  /**
   * Set for reports of runtimes, which are not changes for the activity log. An unpaired surrogate in one becomes U+FFFD.
   */
  readonly report?: true;
  /** Set for a POST that only asks for something: it is not a change, either. */
  readonly question?: true;
  /** Keeps the budget of large bodies until the response. Otherwise it is released when the handler waits. */
  readonly holdsBody?: true;
}

/** A row as the rest of the program sees it: types are erased, except for the handler's needs. */
export interface Route<Needs> extends RowFields<
  Method,
  string,
  Access,
  QueryParameters,
  HeaderParameters,
  Schema | CustomBody<unknown>,
  Replies
> {
  readonly role?: Role;
  handle(
    input: Input<string, Access, QueryParameters, HeaderParameters, CustomBody<unknown>>,
    needs: Needs,
  ): unknown;
  /** The turn that a request of a `large` row waits for; `undefined` if it needs none. By default `large`. */
  turn?(
    input: Input<string, Access, QueryParameters, HeaderParameters, CustomBody<unknown>>,
  ): LargeAnswer | undefined;
  /**
   * Called when a change has ended, made or not, and before it is answered. It drops what memory holds of the state before
   * the change: in the handler that is too early, since others read that state until the change is committed.
   */
  ended?(
    input: Input<string, Access, QueryParameters, HeaderParameters, CustomBody<unknown>>,
    needs: Needs,
  ): void;
  /** Set in every row that changes data: each change is one entry in the organization's activity log. */
  readonly change?: Change<
    Input<string, Access, QueryParameters, HeaderParameters, CustomBody<unknown>>,
    unknown
  >;
}

/** A row without its handler, from which documents are computed. */
export type RouteDescription = Omit<Route<never>, "handle" | "turn" | "ended">;

/** Declares a row; path, parameters, body and replies give its handler its types. */
export function route<
  const M extends Method,
  const Path extends string,
  const A extends Access,
  const R extends Replies,
  Needs,
  const Q extends QueryParameters = Record<never, never>,
  const H extends HeaderParameters = Record<never, never>,
  const B extends Schema | CustomBody<unknown> | undefined = undefined,
>(
  row: RowFields<M, Path, A, Q, H, B, R> &
    RoleField<M, A> & {
      handle(input: Input<Path, A, Q, H, B>, needs: Needs): Answer<R> | Promise<Answer<R>>;
      turn?(input: Input<Path, A, Q, H, B>): LargeAnswer | undefined;
      ended?(input: Input<Path, A, Q, H, B>, needs: Needs): void;
      readonly change?: Change<Input<Path, A, Q, H, B>, AnswerValue<R>>;
    },
): Route<Needs> {
  return row as unknown as Route<Needs>;
}

/** The services that a list of rows needs in total. */
export type NeedsOf<Rows extends readonly Route<never>[]> = {
  [K in keyof Rows]: Rows[K] extends Route<infer N> ? (needs: N) => void : never;
}[number] extends (needs: infer All) => void
  ? All
  : never;

/** Whether a function validates the row's body. */
export function isCustomBody(body: Schema | CustomBody<unknown>): body is CustomBody<unknown> {
  return "read" in body;
}

/** The schema that documents a row's body. */
export function bodySchema(body: Schema | CustomBody<unknown>): Schema {
  return isCustomBody(body) ? body.schema : body;
}
