import type { AuditEvent } from "../../audit/schema.ts";
import { DAY_MS } from "../../core/clock.ts";
import type { RuntimeInstance } from "../../fleet/schema.ts";
import { AGENT_SETTINGS, type AgentSettings } from "../../guard/agent-settings.ts";
import { GUARD_VERSION } from "../../policies/reported-command.ts";
import { count, shorten } from "../format.ts";
import { html, type Html } from "../html.ts";
import { pageLink, runtimeLink } from "../page-link.ts";
import { allowedOrNote } from "../withheld.ts";
import { freshKeyCard, type FreshKey } from "./access-keys.ts";
import { addForm } from "./access.ts";
import { textField } from "./fields.ts";
import { policyCell } from "./fleet.ts";
import {
  badge,
  callsV1,
  card,
  decisionBadge,
  emptyState,
  type PageContext,
  shellLines,
  table,
  timeAgo,
} from "./parts.ts";
import { runtimeLines } from "./runtime-lines.ts";
import type { DataPage } from "./source.ts";

/** The most machines on the page: each is one query of the audit. */
const MOST_MACHINES = 20;
/** A machine without events for longer is silent. */
const SILENT_MS = DAY_MS;
const LONGEST_SHOWN = 100;

/** A machine with the guard, and its newest event. */
export interface GuardedMachine {
  readonly runtime: RuntimeInstance;
  readonly last: AuditEvent | undefined;
}

/** The model of the page of the agents. */
export interface AgentsModel extends PageContext {
  /** The active policy version; empty before the first publish. */
  readonly active: string;
  /** Most recently seen first. */
  readonly machines: readonly GuardedMachine[];
  /** The key that was just created, for which the lines then wait. */
  readonly fresh?: FreshKey | undefined;
}

/** The page that connects agents and shows the machines with the guard. */
export const agents: DataPage<AgentsModel> = {
  path: "/portal/agents",
  title: "Agents",
  module: "agents",
  parameters: {},
  async read(source, context) {
    const [summary, { runtimes }] = await Promise.all([
      source.fleetSummary(),
      source.runtimes({ q: GUARD_VERSION }, MOST_MACHINES),
    ]);
    const machines = runtimes
      .filter(({ version }) => version?.startsWith(GUARD_VERSION))
      .map(async (runtime) => {
        const { events } = await source.page({ runtime: runtime.name }, 1, undefined);
        return { runtime, last: events[0] };
      });
    return { ...context, active: summary.policy_version, machines: await Promise.all(machines) };
  },
  render: renderAgents,
};

/** Renders the lines that connect each agent, its support, and the machines. */
export function renderAgents(model: AgentsModel): Html {
  return html`<div class="page-head"><h1>Agents</h1></div>
    <div class="grid">
      ${model.active === "" ? noPolicy() : undefined} ${newKey(model)} ${connect(model)}
      ${card("machines-title", "Machines", machines(model), allMachines(model))}
      ${card("support-title", "Support", support())}
    </div>`;
}

function noPolicy(): Html {
  return html`<p class="notice">
    No policy is active, so nothing is decided yet.
    <a href="/portal/policies/new">Write the first one</a>.
  </p>`;
}

/** The form for a key; keys are made on `/api/v1` only, and `/api/public` needs none. */
function newKey(model: AgentsModel): Html | undefined {
  if (!callsV1(model)) return undefined;
  if (model.fresh) return freshKey(model.fresh);
  const form = addForm({
    name: "agent-key",
    title: "A key for the machines",
    hint: html`<p class="faint">
      ${model.needsCredential ? "Machines need a key here." : "This service asks for no key yet."} A
      key that is created here can read policies and report, nothing else.
    </p>`,
    fields: textField({
      id: "key-name",
      name: "name",
      label: "Which machines it is for",
      placeholder: "laptops",
      maxLength: 256,
    }),
    button: "Create key",
  });
  return allowedOrNote(model, "POST /api-keys", "Creating keys", form);
}

function freshKey(fresh: FreshKey): Html {
  return freshKeyCard(
    fresh,
    html`<p class="faint">
      The lines below wait for it: paste it there. It does not show, and stays out of the history of
      the shell.
    </p>`,
  );
}

function connect(model: AgentsModel): Html {
  const [first] = AGENT_SETTINGS.keys();
  return html`<section class="card steps" aria-labelledby="connect-title">
    <header><h2 id="connect-title">Connect a machine</h2></header>
    <p class="inside faint small">
      <code>signalbox</code> comes with the package: <code>npm ci &amp;&amp; npm pack</code> in a
      clone makes it, and <code>npm install --global ./signalbox-….tgz</code> installs it.
    </p>
    <ul>
      ${[...AGENT_SETTINGS].map(
        ([agent, { title, user }]) =>
          html`<li>
            <details id="connect-${agent}" ${agent === first ? html`open` : undefined}>
              <summary>${title}</summary>
              <p>
                Puts hooks into <code>~/${user}</code>; <code>--project</code> in place of
                <code>--user</code> puts them into the folder.
              </p>
              ${guardLines(model, `signalbox guard setup ${agent} --user\nsignalbox guard doctor`)}
            </details>
          </li>`,
      )}
      <li>
        <details id="connect-exec">
          <summary>People and pipelines</summary>
          <p>
            Fetches the policy, without which a command runs undecided; then decides a command and
            runs it with its own streams and exit code.
          </p>
          ${guardLines(model, "signalbox guard sync\nsignalbox guard exec -- terraform plan")}
        </details>
      </li>
    </ul>
  </section>`;
}

/** The lines of a guard below the settings of the machine; apart from them if these end by waiting for a key. */
function guardLines(model: AgentsModel, lines: string): Html {
  const hasKey = model.needsCredential || model.fresh !== undefined;
  const settings = runtimeLines(model, hasKey);
  if (!hasKey) return shellLines(`${settings}\n${lines}`);
  return html`${shellLines(settings)}
    <p>Paste the key: the last line waits for it. Then, in the same shell:</p>
    ${shellLines(lines)}`;
}

function machines(model: AgentsModel): Html {
  if (model.machines.length === 0) {
    return emptyState("No machine yet", "A machine appears here once these lines have run on it.");
  }
  const headings = ["Machine", "State", "Last event", "Policy version", "Seen", "Guard"];
  const rows = model.machines.map((machine) => row(model, machine));
  return html`${table("Table of machines", "rows fleet stacked", headings, rows)}
    <p class="inside faint small">
      A machine is silent if no event came from it for a day: its agent is not used, or its hooks do
      not run. <code>signalbox guard doctor</code> tries them on the machine.
    </p>`;
}

function allMachines({ machines: shown }: AgentsModel): Html | undefined {
  if (shown.length === 0) return undefined;
  return html`<a href="${pageLink("/portal/fleet", { q: GUARD_VERSION.trim() })}"
    >${shown.length < MOST_MACHINES ? "In the fleet" : `More than ${count(MOST_MACHINES)}: the fleet`}</a
  >`;
}

function row({ active, now }: AgentsModel, { runtime, last }: GuardedMachine): Html {
  const { name, version = "" } = runtime;
  return html`<tr>
    <th scope="row"><a href="${runtimeLink(name)}">${shorten(name, LONGEST_SHOWN)}</a></th>
    <td>${state(last, now)}</td>
    <td data-label="Last event">${lastEvent(name, last, now)}</td>
    <td class="nowrap" data-label="Policy">${policyCell(runtime, active)}</td>
    <td class="nowrap" data-label="Seen">${timeAgo(runtime.last_seen, now)}</td>
    <td class="mono" data-label="Guard">
      ${shorten(version.slice(GUARD_VERSION.length), LONGEST_SHOWN)}
    </td>
  </tr>`;
}

/** A machine whose guard beats but reports nothing has hooks that do not fire, or an agent that is not used. */
function state(last: AuditEvent | undefined, now: number): Html {
  const isSilent = last === undefined || now - Date.parse(last.timestamp) > SILENT_MS;
  return isSilent ? badge("installed but silent", "warn") : badge("reports", "ok");
}

function lastEvent(name: string, last: AuditEvent | undefined, now: number): Html {
  if (!last) return html`<span class="faint">none</span>`;
  const href = pageLink("/portal/audit", { runtime: name });
  return html`<a href="${href}">${timeAgo(last.timestamp, now)}</a>
    ${decisionBadge(last)}
    <span class="under">${shorten(last.transport ?? "", LONGEST_SHOWN)}</span>`;
}

function support(): Html {
  const headings = ["Agent", "Hooks", "Denies by", "State"];
  const rows = [...AGENT_SETTINGS].map(([, settings]) => supportRow(settings));
  return table("Table of the agents", "rows fleet stacked", headings, rows);
}

function supportRow({ title, events, denial, support: state }: AgentSettings): Html {
  return html`<tr>
    <th scope="row">${title}</th>
    <td data-label="Hooks">${events.join(", ")}</td>
    <td data-label="Denies by">${denial}</td>
    <td data-label="State">${state}</td>
  </tr>`;
}
