import type { Awaitable, Caller } from "../core/caller.ts";
import type { Stopwatch } from "../core/clock.ts";
import type { IdSource } from "../core/ids.ts";
import type { BodyBudget } from "./body-budget.ts";
import type { OriginRule } from "./cors.ts";
import type { HostRule } from "./host-rule.ts";
import type { RequestSummary } from "./request-summary.ts";
import type { LargeAnswer, RouteDescription, Surface } from "./route.ts";
import type { Router } from "./router.ts";
import type { Turns } from "../core/turns.ts";
import type { UnreadAnswers } from "./unread-answers.ts";

/** The credentials of a request, as its headers give them. */
export interface Credentials {
  readonly authorization: string | undefined;
  readonly apiKey: string | undefined;
}

/** Turns credentials into a caller, or throws the refusal. */
export type ResolveCaller = (
  demand: Pick<RouteDescription, "access" | "keys" | "role">,
  surface: Surface,
  credentials: Credentials,
) => Awaitable<Caller>;

/** What the listener is made of; `app.ts` gives it. */
export interface ListenerParts<Needs> {
  readonly router: Router<Needs>;
  readonly services: Needs;
  readonly resolveCaller: ResolveCaller;
  readonly isAllowedOrigin: OriginRule;
  /** Absent where requests for any host are answered. */
  readonly isAllowedHost?: HostRule | undefined;
  readonly requestIds: IdSource;
  readonly maxBodyBytes: number;
  readonly bodyBudget: BodyBudget;
  readonly unreadAnswers: UnreadAnswers;
  /** In which large answers are made, by how long they count. */
  readonly turns: Readonly<Record<LargeAnswer, Turns>>;
  /** How many proxies in front are believed about the caller's address. */
  readonly trustedProxies: number;
  /** Asked about each request before its credentials are looked at; refuses by throwing. */
  readonly admit?: ((row: RouteDescription, surface: Surface, address: string) => void) | undefined;
  readonly onAnswered: (summary: RequestSummary) => void;
  /** Absent where durations are not recorded. */
  readonly stopwatch?: Stopwatch | undefined;
}
