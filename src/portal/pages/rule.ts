import { string } from "../../core/schema-parts.ts";
import type { Work } from "../../core/scheduling/work.ts";
import type { QueryParameters } from "../../http/query.ts";
import { decisionOf } from "../../policies/evaluate.ts";
import type { Policy, PolicyRule } from "../../policies/schema.ts";
import { count, counted, shorten } from "../format.ts";
import { html, type Html } from "../html.ts";
import {
  executorLink,
  lineLink,
  POLICIES_PATH,
  policyLink,
  providerLink,
  ruleLink,
  runtimeLink,
} from "../page-link.ts";
import type { PolicyRules } from "../rule-schema.ts";
import { zoneWords } from "../zone.ts";
import { namesIn, newestTable } from "./commands-of.ts";
import { dayTable } from "./day-table.ts";
import {
  badge,
  card,
  emptyCard,
  facts,
  type Facts,
  LONGEST_SHOWN,
  subpageHead,
  timeAgo,
  type PageContext,
} from "./parts.ts";
import { observeNotice, policyLines } from "./policy-text.ts";
import { ruleOfReason } from "./rule-of-reason.ts";
import { activeOf, readPolicy, type DataPage } from "./source.ts";
import { editLink } from "./version-actions.ts";

/** A document may have ten thousand rules. */
const MOST_LISTED = 500;

const parameters = {
  id: string("The id of the rule."),
  version: string("The policy version. The default is the active version."),
  reason: string("The reason of the rule, in place of its id."),
} as const satisfies QueryParameters;

/** The model of a rule's page. */
export interface RuleModel extends PageContext {
  /** The id that was asked for, or the id of the rule with the reason; empty for neither. */
  readonly id: string;
  /** The version with its text; `undefined` when it does not exist. */
  readonly policy: Policy | undefined;
  readonly found: PolicyRules | undefined;
}

/** The page of one rule of a policy version. */
export const rule: DataPage<RuleModel, typeof parameters> = {
  path: POLICIES_PATH,
  title: "Rule",
  module: "rule",
  parameters,
  titleOf: ({ id, policy }) => [id || "Rule", policy?.version ?? ""].filter(Boolean).join(" · "),
  async read(source, context, { id = "", version, reason }) {
    const versions = await source.versions();
    const policy = await readPolicy(source, versions, version ?? activeOf(versions));
    if (!policy) return { ...context, id, policy, found: undefined };
    if (id !== "") {
      return { ...context, id, policy, found: await source.rules(policy.version, id) };
    }
    const all = await source.rules(policy.version);
    const named = ruleOfReason(all.rules, reason);
    const found = named === undefined ? all : await source.rules(policy.version, named);
    return { ...context, id: named ?? "", policy, found };
  },
  render: renderRule,
};

/** Renders a rule: its text, and the commands that it decides. */
function* renderRule(model: RuleModel): Work<Html> {
  const { id, policy, found } = model;
  const shown = found?.rules.find((one) => one.id === id);
  const others = policy && found && (yield* otherRules(policy, found));
  if (!policy || !found || !shown) {
    return html`${subpageHead(POLICIES_PATH, "Policies", "Rule")}
      <div class="grid">${noRule(model)} ${others}</div>`;
  }
  const aside = html`${badge(shown.enabled ? shown.effect : "switched off", toneOf(shown))}
    <div class="actions">${editLink(model, policy.version)}</div>`;
  const about = facts([
    ...aboutRule(model, policy, shown),
    ...(found.commands ? aboutUse(model, found.commands, shown) : []),
  ]);
  const text = policyLines(policy.yaml, shown.line, shown.end_line);
  return html`${subpageHead(POLICIES_PATH, "Policies", shown.id, aside)}
    <div class="grid">
      <div class="grid thing">
        ${card("rule-title", "Rule", html`${observeNotice(policy.yaml)}${about}`)}
        ${card("text-title", "Text", text)}
      </div>
      ${found.commands && use(model, found.commands, shown)} ${others}
    </div>`;
}

function toneOf({ effect, enabled }: PolicyRule): "ok" | "bad" | "none" {
  if (!enabled) return "none";
  return effect === "allow" ? "ok" : "bad";
}

function aboutRule({ now }: RuleModel, policy: Policy, shown: PolicyRule): Facts {
  const { version, active } = policy;
  const { line, end_line: end, description, reason } = shown;
  const lines = line === end ? `line ${count(line)}` : `lines ${count(line)} to ${count(end)}`;
  return [
    [
      "Version",
      html`<a class="mono" href="${policyLink(version)}">${version}</a>
        ${active ? badge("active", "ok") : badge("not active", "none")}
        <span class="faint">published ${timeAgo(policy.updated_at, now)}</span>`,
    ],
    ["Place", html`<a href="${lineLink(version, line)}">${lines}</a>`],
    ["Description", description],
    ["Reason", reason],
  ];
}

type Use = NonNullable<PolicyRules["commands"]>;

function aboutUse({ now }: RuleModel, commands: Use, { effect }: PolicyRule): Facts {
  const { looked_at: lookedAt, since, times, events } = commands;
  const kind = effect === "deny" ? "denied command" : "allowed command";
  const [last] = times;
  return [
    [
      "Last used",
      last === undefined
        ? html`<span class="faint">not by these commands</span>`
        : timeAgo(last, now),
    ],
    [
      "Commands",
      html`${count(times.length)} of the newest ${counted(lookedAt, kind)}
      ${since && html`<span class="faint">(the oldest ${timeAgo(since, now)})</span>`}`,
    ],
    ["People and agents", namesIn(events, "executor", executorLink)],
    ["Runtimes", namesIn(events, "runtime_name", runtimeLink)],
    ["Providers", namesIn(events, "provider", providerLink)],
  ];
}

function use({ now }: RuleModel, { times, events, since }: Use, { effect }: PolicyRule): Html {
  const denies = effect === "deny";
  const note = html`<p class="inside faint small">
    Events do not name their rule. The newest ones are decided again by this version, whichever
    version decided them at their time.
  </p>`;
  const decision = decisionOf(effect);
  const list = newestTable(events, { decision }, now, "This rule decides none of these commands.");
  return html`<div class="grid thing">
    ${card("newest-title", denies ? "Newest denials" : "Newest commands", html`${list} ${note}`)}
    ${card("days-title", `${denies ? "Denials" : "Commands"} by day, ${zoneWords()}`, dayTable(times, since, now))}
  </div>`;
}

function* otherRules({ version }: Policy, { rules }: PolicyRules): Work<Html | undefined> {
  if (rules.length === 0) return undefined;
  const names: Html[] = [];
  for (const { id, enabled, effect } of rules.slice(0, MOST_LISTED)) {
    names.push(
      html`<li>
        <a href="${ruleLink(version, id)}">${shorten(id, LONGEST_SHOWN)}</a>
        <span class="faint small">${enabled ? effect : "switched off"}</span>
      </li>`,
    );
    yield;
  }
  const rest = rules.length - names.length;
  const more = html`<p class="inside faint small">
    ${count(rest)} more in <a href="${policyLink(version)}">the document</a>.
  </p>`;
  return card(
    "rules-title",
    html`Rules of ${version}`,
    html`<ul class="rule-list inside">
        ${names}
      </ul>
      ${rest > 0 ? more : undefined}`,
  );
}

function noRule({ id, policy, found }: RuleModel): Html {
  if (!policy) return emptyCard("No such version", "The policy version does not exist.");
  if (found?.rules.length === 0) {
    return emptyCard(
      "No rules to show",
      html`The rules of documents with <code>schema: signalbox/policy/v1</code> have pages.
        <a href="${policyLink(policy.version)}">The document of ${policy.version}</a> has none.`,
    );
  }
  return emptyCard(
    "No such rule",
    id === ""
      ? html`No single rule of ${policy.version} gives this reason.`
      : html`The version ${policy.version} has no rule <code>${shorten(id, LONGEST_SHOWN)}</code>.`,
  );
}
