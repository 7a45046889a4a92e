/**
 * What an endpoint is. A row is static data and closes over nothing: the router, the validation of
 * bodies and parameters, the OpenAPI document, the metadata documents and the portal's API page are
 * all computed from the rows, so they cannot drift apart.
 */
import type { Actor, Caller, ShownToken, UserActor } from "../core/caller.ts";
import type { KeyGrant } from "../core/key-scopes.ts";
import type { Role } from "../core/roles.ts";
import type { Infer, IntegerSchema, Schema, StringSchema } from "../core/schema.ts";
import type { Exchange } from "./exchange.ts";
import type { Reply } from "./reply.ts";

/** `public` is `/api/public`, `v1` is `/api/v1`, `portal` is what stands under no prefix. */
export type Surface = "public" | "v1" | "portal";

/** The path prefix of every surface. */
export const PREFIXES: Readonly<Record<Surface, string>> = {
  public: "/api/public",
  v1: "/api/v1",
  portal: "",
};

/**
 * Who may call: `open` anyone; `user` a token, or an API key that has the row's `keys`; `always` a
 * token even where authentication is switched off. `user` is enforced on `/api/v1` only, and only
 * while `REQUIRE_AUTH` is true.
 */
export type Access = "open" | "user" | "always";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/**
 * How long a large answer counts among those of which a few are made at a time (`turns.ts`): until it
 * is `made`, or, where it holds memory until its reader has taken it, until it is `sent`.
 */
export type LargeAnswer = "made" | "sent";

/** The statuses a row may refuse with, beside those that its access and body imply. */
export type RefusedStatus = 400 | 401 | 403 | 404 | 409 | 413 | 429 | 500 | 503 | 507;

/**
 * A query parameter. With `forgiving` no value is ever refused: a whole number out of range is
 * clamped, anything else falls to the default. Without it a value that does not fit is a 400.
 */
export type QueryParameter =
  (StringSchema & { readonly forgiving?: true }) | (IntegerSchema & { readonly forgiving?: true });

export type QueryParameters = Readonly<Record<string, QueryParameter>>;
export type HeaderParameters = Readonly<Record<string, StringSchema>>;

/** A body that a function reads, where a schema alone cannot say what is accepted. */
export interface CustomBody<T> {
  readonly schema: Schema;
  /** Pure; throws `BadInput`. */
  readonly read: (value: unknown) => T;
}

/** What a status answers: a JSON schema, or the media type of something that is not JSON. */
export type OneReplyShape = Schema | string;

/** The shape of an answer, or several where the request decides between media types. */
export type ReplyShape = OneReplyShape | readonly OneReplyShape[];

type Replies = Readonly<Partial<Record<200 | 201 | 202 | 204 | 304, ReplyShape>>>;

type ParamsOf<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? { readonly [K in Name]: string } & ParamsOf<Rest>
  : unknown;

type QueryOf<Q extends QueryParameters> = {
  readonly [K in keyof Q]: Q[K] extends { readonly default: infer D }
    ? D extends number
      ? number
      : string
    : | (Q[K] extends { readonly type: "integer" }
          ? number
          : Q[K] extends { readonly enum: readonly (infer V)[]; readonly forgiving?: never }
            ? V
            : string)
      | undefined;
};

type BodyOf<B> = B extends CustomBody<infer T> ? T : B extends Schema ? Infer<B> : undefined;

/** What a successful answer may be: a plain value of a declared shape (200), or a reply. */
type Answer<R extends Replies> = Reply | (R[200] extends Schema ? Infer<R[200]> : never);

/** The JSON that a successful answer carries, if it carries any. */
type AnswerValue<R extends Replies> =
  (R[200] extends Schema ? Infer<R[200]> : never) | (R[201] extends Schema ? Infer<R[201]> : never);

/** Facts for the record of changes, by the names under which people know them. No secrets. */
export type ChangeFacts = Readonly<Record<string, unknown>>;

/** What a change was made to; `id` or `name` may not be known of one that failed. */
export interface ChangeTarget {
  readonly type: string;
  readonly id?: string | undefined;
  readonly name?: string | undefined;
}

/** What the record of a change says of it: data and pure functions, like all of a row. */
export interface Change<I, V> {
  /** A word for good, such as `policy.publish`. */
  readonly action: string;
  /** `answer` is `undefined` when the change failed or is answered with something else than JSON. */
  target(input: I, answer: V | undefined): ChangeTarget;
  /** What holds now, without secrets: it is kept for long. */
  after?(input: I, answer: V): ChangeFacts;
  /**
   * Data is read and nothing changes. Recorded of users and keys only: anybody can repeat a request
   * without credentials at no cost, and each entry is a synced write.
   */
  readonly isReading?: true;
  /** The actions as which refusals are recorded, by status; others leave no record. */
  readonly refusals?: Readonly<Partial<Record<number, string>>>;
}

/** What only the handler of a change knows, for its record. */
export interface ChangeNote {
  /** What held until now, without secrets. When it equals `after`, nothing changed and there is no entry. */
  readonly before?: ChangeFacts | undefined;
  /** What holds now, where the row cannot make it of input and answer. */
  readonly after?: ChangeFacts | undefined;
  /** Who it was, and in which organization, where credentials in headers do not say so. */
  readonly caller?: Caller | undefined;
}

/** What a handler is given: everything is already checked and typed by the row. */
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
  /** The token that was shown; `undefined` where it was a key or nothing. */
  readonly token: A extends "always" ? ShownToken : ShownToken | undefined;
  readonly surface: Surface;
  /** Whether the headers alone are asked for: then nothing may be used up for the answer. */
  readonly isHead: boolean;
  readonly params: ParamsOf<Path>;
  readonly query: QueryOf<Q>;
  /** The declared headers, by the name the row gives them; `undefined` when not sent. */
  readonly headers: { readonly [K in keyof H]: string | undefined };
  readonly body: BodyOf<B>;
  /** The caller's IP address, through trusted proxies. */
  readonly address: string;
  readonly requestId: string;
  /** The client that waits for the answer, for work that takes long. */
  readonly client: Pick<Exchange, "gone" | "acceptance" | "party">;
  /** Adds to the record of this change; does nothing in a row without `change`. */
  readonly note: (note: ChangeNote) => void;
}

/**
 * The least role that a row takes on `/api/v1` while `ROLES` is `enforced`. Every role may read, so a
 * GET names none, and an open row knows no user; every other row has to name one.
 */
type RoleField<M extends Method, A extends Access> = M extends "GET"
  ? { readonly role?: never }
  : A extends "open"
    ? { readonly role?: never }
    : { readonly role: Role };

/** A part of a path, for documents. */
export interface PathParameter extends StringSchema {
  readonly description: string;
  readonly examples: readonly [string, ...string[]];
}

interface RowFields<M extends Method, Path extends string, A extends Access, Q, H, B, R> {
  readonly method: M;
  /** Below the surface's prefix; `{name}` stands for one segment. */
  readonly path: Path;
  readonly surfaces: readonly Surface[];
  readonly access: A;
  /** What an API key must be allowed to do here; a row without it takes no key while `REQUIRE_AUTH` is true. */
  readonly keys?: KeyGrant;
  /** The words of a 403 to callers of any other organization than the default one. */
  readonly defaultOnly?: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  /** What each `{name}` in the path is. Nothing else is found, so a text that does not fit is a 404. */
  readonly params?: Readonly<Record<string, PathParameter>>;
  readonly query?: Q;
  readonly headers?: H;
  readonly body?: B;
  readonly replies: R;
  /** Descriptions of the headers that successful answers carry beside the common ones. */
  readonly replyHeaders?: Readonly<Record<string, string>>;
  readonly refuses?: readonly RefusedStatus[];
  /** Set where the answer is large, or takes long to make: it waits for its turn. */
  readonly large?: LargeAnswer;
  /** A runtime's report, or a question: it changes nothing that an operator would look for in a log of changes. */
  readonly report?: true;
  /** Holds the budget of large bodies until the answer. Without it the budget is released when the handler waits. */
  readonly holdsBody?: true;
}

/** A row as the rest of the program sees it: types erased, except for what the handler needs. */
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
  /** Tells a request of a `large` row whose answer is small: it waits for no turn. */
  isSmall?(
    input: Input<string, Access, QueryParameters, HeaderParameters, CustomBody<unknown>>,
  ): boolean;
  /** Set in every row that changes something: one entry in the organization's activity log each time. */
  readonly change?: Change<
    Input<string, Access, QueryParameters, HeaderParameters, CustomBody<unknown>>,
    unknown
  >;
}

/** A row without its handler: what documents are computed from. */
export type RouteDescription = Omit<Route<never>, "handle" | "isSmall">;

/** Declares a row; path, parameters, body and replies type its handler. */
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
      isSmall?(input: Input<Path, A, Q, H, B>): boolean;
      readonly change?: Change<Input<Path, A, Q, H, B>, AnswerValue<R>>;
    },
): Route<Needs> {
  return row as unknown as Route<Needs>;
}

/** The services that a list of rows needs, all of them together. */
export type NeedsOf<Rows extends readonly Route<never>[]> = {
  [K in keyof Rows]: Rows[K] extends Route<infer N> ? (needs: N) => void : never;
}[number] extends (needs: infer All) => void
  ? All
  : never;

/** Whether a row's body is read by a function of its own. */
export function isCustomBody(body: Schema | CustomBody<unknown>): body is CustomBody<unknown> {
  return "read" in body;
}

/** The schema that documents a row's body. */
export function bodySchema(body: Schema | CustomBody<unknown>): Schema {
  return isCustomBody(body) ? body.schema : body;
}
