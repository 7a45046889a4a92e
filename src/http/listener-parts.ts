import type { IncomingMessage } from "node:http";
import type { Awaitable, Caller, Credentials } from "../core/caller.ts";
import type { Clock, Stopwatch } from "../core/clock.ts";
import type { IdSource } from "../core/ids.ts";
import type { BodyBudget } from "./bodies/body-budget.ts";
import type { OriginRule } from "./cors.ts";
import type { HostRule } from "./host-rule.ts";
import type { RequestSummary } from "./request-summary.ts";
import type { LargeAnswer, RouteDescription, Surface } from "./route.ts";
import type { Reply } from "./reply.ts";
import type { Router } from "./router.ts";
import type { Turns } from "../core/scheduling/turns.ts";
import type { UnreadAnswers } from "./unread-answers.ts";

/** Turns credentials into a caller, or throws the refusal. */
export type ResolveCaller = (
  demand: Pick<RouteDescription, "access" | "keys" | "role">,
  surface: Surface,
  credentials: Credentials,
) => Awaitable<Caller>;

/** The parts of the listener; `app.ts` provides them. */
export interface ListenerParts<Needs> {
  readonly router: Router<Needs>;
  readonly services: Needs;
  readonly resolveCaller: ResolveCaller;
  readonly now: Clock;
  readonly isAllowedOrigin: OriginRule;
  /** `undefined` if requests for any host are answered. */
  readonly isAllowedHost?: HostRule | undefined;
  readonly requestIds: IdSource;
  readonly maxBodyBytes: number;
  readonly bodyBudget: BodyBudget;
  readonly unreadAnswers: UnreadAnswers;
  /** The turns that large answers wait for, by the kind of answer. */
  readonly turns: Readonly<Record<LargeAnswer, Turns>>;
  /** The number of trusted proxies in front, which state the caller's address. */
  readonly trustedProxies: number;
  /** Called before the credentials of each request are checked; refuses by throwing. */
  readonly admit?: ((row: RouteDescription, surface: Surface, address: string) => void) | undefined;
  /** The page for people at an unknown path; `undefined` for requests that are answered with JSON. */
  readonly missingPage?: ((request: IncomingMessage) => Reply | undefined) | undefined;
  readonly onAnswered: (summary: RequestSummary) => void;
  /** `undefined` if durations are not recorded. */
  readonly stopwatch?: Stopwatch | undefined;
}
