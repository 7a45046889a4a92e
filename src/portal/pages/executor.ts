import { string } from "../../core/schema-parts.ts";
import type { QueryParameters } from "../../http/query.ts";
import { html, type Html } from "../html.ts";
import { AUDIT_PATH, providerLink, runtimeLink } from "../page-link.ts";
import { viewHref } from "./audit-view.ts";
import {
  commandCards,
  commandFacts,
  namesIn,
  readCommandsOf,
  type CommandsOf,
} from "./commands-of.ts";
import { card, emptyCard, facts, subpageHead, type PageContext } from "./parts.ts";
import type { DataPage } from "./source.ts";

const parameters = {
  name: string("The name of the executor: a person or an agent."),
} as const satisfies QueryParameters;

/** The model of the page of a person or an agent. */
export interface ExecutorModel extends PageContext {
  readonly name: string;
  readonly commands: CommandsOf;
}

/** The page of one executor, a person or an agent. */
export const executor: DataPage<ExecutorModel, typeof parameters> = {
  path: AUDIT_PATH,
  title: "Person or agent",
  module: "executor",
  parameters,
  titleOf: ({ name }) => name || "Person or agent",
  read: async (source, context, { name = "" }) => ({
    ...{ ...context, name },
    commands: await readCommandsOf(source, context, { executor: name }),
  }),
  render: renderExecutor,
};

/** Renders the commands of a person or an agent. */
function renderExecutor({ name, commands, now }: ExecutorModel): Html {
  const head = subpageHead(AUDIT_PATH, "Audit", name);
  if (name === "" || commands.newest.total === 0) {
    const advice = html`No command in the <a href="${AUDIT_PATH}">log</a> was run by this name.`;
    return html`${head}${emptyCard("No commands", advice)}`;
  }
  const consumerLink = (consumer: string): string => viewHref({ executor: name, consumer });
  const about = facts([
    ...commandFacts(commands, now),
    ["Acted as", namesIn(commands.newest.events, "consumer", consumerLink)],
    ["Runtimes", namesIn(commands.newest.events, "runtime_name", runtimeLink)],
    ["Providers", namesIn(commands.newest.events, "provider", providerLink)],
  ]);
  return html`${head}
  ${commandCards(card("executor-title", "Person or agent", about), commands, now)}`;
}
