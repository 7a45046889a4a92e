import type { AuditEvent } from "../../audit/schema.ts";
import { readPage } from "../../audit/page.ts";
import type { AuditStore } from "../../audit/store.ts";
import type { Clock } from "../../core/clock.ts";
import { string } from "../../core/schema-parts.ts";
import type { Asker } from "../../core/scheduling/turns.ts";
import type { Work } from "../../core/scheduling/work.ts";
import { Yielder } from "../../core/scheduling/yielder.ts";
import { route } from "../../http/route.ts";
import { askerOf, findRules } from "../../policies/check.ts";
import { decisionOf } from "../../policies/evaluate.ts";
import { commandOf, eachResource } from "../../policies/reported-command.ts";
import type { Command } from "../../policies/rules.ts";
import { VERSION_NAME } from "../../policies/schema.ts";
import type { PolicyStore } from "../../policies/store.ts";
import { storedPolicy } from "../../policies/stored-policy.ts";
import { AHEAD_MS } from "../pages/audit-view.ts";
import { policyRules, type PolicyRules } from "../rule-schema.ts";
import { MOST_IN_LIST, rowsOf } from "./stored-rows.ts";

/** The number of events that are decided again for a rule. */
const LOOKED_AT = 500;
const MOST_COMMANDS = 50;

/** The stores behind the rules of a version and the commands of a rule. */
export interface RuleNeeds {
  readonly audit: Pick<AuditStore, "page">;
  readonly policies: Pick<PolicyStore, "get" | "active">;
}

/** The rules that are wanted; with `rule`, the id of one of them, its commands are wanted, too. */
export interface WantedRules {
  readonly organization: string;
  readonly version: string;
  readonly rule?: string | undefined;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/**
 * Reads the rules of a version, and the commands of one of them. Events do not name the rule that decided
 * them, so the newest ones are decided again.
 *
 * @throws NotFound if the version does not exist
 * @throws Unavailable when too many costly documents wait to be checked, or the check takes too long
 */
export async function readRules(
  { audit, policies }: RuleNeeds,
  asker: Asker,
  { organization, version, rule, now }: WantedRules,
): Promise<PolicyRules> {
  const policy = await storedPolicy(policies, organization, version);
  const { rules = [] } = (await findRules(asker, policy.yaml, [])) ?? {};
  const found = rules.find(({ id }) => id === rule);
  if (!found) return { version, rules };
  const filter = { decision: decisionOf(found.effect), to: now + AHEAD_MS };
  const wanted = { limit: LOOKED_AT, offset: 0, cursor: undefined, characters: MOST_IN_LIST };
  const { rows } = await readPage(audit, organization, filter, wanted, asker);
  // The verdict on a command that is cut would be one on another command.
  const events = (await rowsOf<AuditEvent>(rows.json)).filter(
    ({ command = "" }) => command.length < MOST_IN_LIST,
  );
  const uses = events.flatMap((event) => eachResource(event).map((use) => ({ event, use })));
  const { different, numbers } = await new Yielder(asker.gone).run(
    differentCommands(uses.map(({ use }) => use)),
  );
  const { by = [] } = (await findRules(asker, policy.yaml, different)) ?? {};
  const end = numbers.findIndex((number) => number >= by.length); // where the work reached its limit
  const known = end === -1 ? uses : uses.slice(0, end);
  const eventsOf = (some: typeof uses): AuditEvent[] => [
    ...new Set(some.map(({ event }) => event)),
  ];
  const lookedAt = eventsOf(known);
  const decided = eventsOf(known.filter((_, i) => by[numbers[i] ?? -1] === rule));
  const oldest = lookedAt.at(-1)?.timestamp;
  return {
    version,
    rules,
    commands: {
      looked_at: lookedAt.length,
      ...(oldest !== undefined && { since: oldest }),
      times: decided.map(({ timestamp }) => timestamp),
      events: decided.slice(0, MOST_COMMANDS),
    },
  };
}

/**
 * The different commands of events, and the number of each event's command. Most commands are repeated, and each takes
 * a thread's time only once.
 */
export function* differentCommands(
  events: readonly AuditEvent[],
): Work<{ readonly different: readonly Command[]; readonly numbers: readonly number[] }> {
  const different: Command[] = [];
  const numbers: number[] = [];
  const numberOf = new Map<string, number>();
  for (const event of events) {
    const command = commandOf(event);
    const text = JSON.stringify(command);
    const number = numberOf.get(text) ?? different.push(command) - 1;
    numberOf.set(text, number);
    numbers.push(number);
    yield; // each of the names may be long
  }
  return { different, numbers };
}

/** The route that lists rules. It is here because it joins two domains that do not import each other. */
export const ruleRoutes = [
  route({
    method: "GET",
    path: "/policies/{version}/rules",
    surfaces: ["public", "v1"],
    access: "user",
    large: "made",
    summary: "List the rules of a policy version",
    description:
      "With `rule`, the answer has the commands that the rule decides: the newest events with its decision are decided again by this version, since events do not name rules.",
    tags: ["policies"],
    params: {
      version: string("The name of a policy version.", {
        ruled: VERSION_NAME,
        examples: ["2026-11-20.1"],
      }),
    },
    query: { rule: string("The id of the rule whose commands are wanted.") },
    replies: { 200: policyRules },
    refuses: [404, 500, 503],
    handle(
      { organization, actor, client, params: { version }, query: { rule } },
      { now, ...needs }: RuleNeeds & { readonly now: Clock },
    ) {
      return readRules(needs, askerOf(client, actor), { organization, version, rule, now: now() });
    },
  }),
];
