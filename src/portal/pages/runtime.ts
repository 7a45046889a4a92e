import { string } from "../../core/schema-parts.ts";
import { isDrifted } from "../../fleet/drift.ts";
import type { RuntimeInstance } from "../../fleet/schema.ts";
import type { QueryParameters } from "../../http/query.ts";
import type { Policy } from "../../policies/schema.ts";
import { html, type Html } from "../html.ts";
import { executorLink, FLEET_PATH, policyLink, providerLink } from "../page-link.ts";
import { shorten } from "../format.ts";
import {
  commandCards,
  commandFacts,
  namesIn,
  readCommandsOf,
  type CommandsOf,
} from "./commands-of.ts";
import { STATUS_TONES } from "./fleet.ts";
import { labelLinker, labelLinks } from "./label-links.ts";
import {
  badge,
  card,
  emptyCard,
  facts,
  LONGEST_SHOWN,
  subpageHead,
  timeAgo,
  type PageContext,
} from "./parts.ts";
import type { DataPage } from "./source.ts";

const parameters = {
  name: string("The name of the runtime."),
} as const satisfies QueryParameters;

/** The model of a runtime's page. */
export interface RuntimeModel extends PageContext {
  readonly name: string;
  /** `undefined` for a name that is not in the fleet. */
  readonly runtime: RuntimeInstance | undefined;
  /** The active policy version; `undefined` while there is none. */
  readonly active: Omit<Policy, "yaml"> | undefined;
  readonly commands: CommandsOf;
}

/** The page of one runtime. */
export const runtime: DataPage<RuntimeModel, typeof parameters> = {
  path: FLEET_PATH,
  title: "Runtime",
  module: "runtime",
  parameters,
  titleOf: ({ name }) => name || "Runtime",
  async read(source, context, { name = "" }) {
    const [{ runtimes }, summary, commands] = await Promise.all([
      source.runtimes({ name }, 1),
      source.fleetSummary(),
      readCommandsOf(source, context, { runtime: name }),
    ]);
    const { policy_version: version } = summary;
    const active = version === "" ? undefined : await source.policy(version);
    return { ...context, name, runtime: name === "" ? undefined : runtimes[0], active, commands };
  },
  render: renderRuntime,
};

/** Renders a runtime: its state, its policy, and its commands. */
function renderRuntime(model: RuntimeModel): Html {
  const { name, runtime: found, commands, now } = model;
  const status = found && badge(found.status, STATUS_TONES[found.status]);
  const head = subpageHead(FLEET_PATH, "Fleet", name, status);
  if (!found && commands.newest.total === 0) {
    const advice = html`The <a href="${FLEET_PATH}">fleet</a> has every runtime that reported.`;
    return html`${head}${emptyCard("No such runtime", advice)}`;
  }
  const state = facts([
    ...(found
      ? stateOf(found, model)
      : ([["Fleet", "Not in the fleet; it sent no heartbeat, or was forgotten"]] as const)),
    ...commandFacts(commands, now),
    ["People and agents", namesIn(commands.newest.events, "executor", executorLink)],
    ["Providers", namesIn(commands.newest.events, "provider", providerLink)],
  ]);
  return html`${head} ${commandCards(card("runtime-title", "Runtime", state), commands, now)}`;
}

function stateOf(found: RuntimeInstance, { active, now }: RuntimeModel) {
  return [
    ["Last seen", timeAgo(found.last_seen, now)],
    ["Policy", policyOf(found, active, now)],
    ["Labels", labelLinks(found.labels, labelLinker())],
    ["Host", found.hostname && shorten(found.hostname, LONGEST_SHOWN)],
    ["System", found.os && shorten(found.os, LONGEST_SHOWN)],
    ["Version", found.version && shorten(found.version, LONGEST_SHOWN)],
  ] as const;
}

function policyOf(
  found: RuntimeInstance,
  active: Omit<Policy, "yaml"> | undefined,
  now: number,
): Html {
  const { policy_version: version } = found;
  if (!version) return html`<span class="faint">not reported</span>`;
  const link = html`<a class="mono" href="${policyLink(version)}"
    >${shorten(version, LONGEST_SHOWN)}</a
  >`;
  const assigned = found.assigned_version ?? active?.version ?? "";
  if (!active || !isDrifted(found, assigned)) return link;
  if (assigned !== active.version) {
    return html`${link} ${badge("drifted", "warn")}
      <span class="faint"
        >a rollout assigns <a class="mono" href="${policyLink(assigned)}">${assigned}</a></span
      >`;
  }
  const since = active.activated_at ?? active.updated_at;
  return html`${link} ${badge("drifted", "warn")}
    <span class="faint"
      >the active version is
      <a class="mono" href="${policyLink(active.version)}">${active.version}</a>, activated
      ${timeAgo(since, now)};</span
    >
    <a href="${policyLink(active.version, version)}">what it changes</a>`;
}
