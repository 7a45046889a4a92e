import { curlLine, type ShownRequest } from "../curl.ts";
import { EDITOR_PATH } from "../editor-draft.ts";
import { html, type Html } from "../html.ts";
import { firstHeartbeat, runtimeLines } from "./runtime-lines.ts";
import { apiRequest, badge, shellLines, TOKEN_ORIGIN, type PageContext } from "./parts.ts";

/** The steps of a new service that are done; the last step, a command, is still missing. */
export interface Beginning {
  readonly hasPolicy: boolean;
  /** `undefined` where runtimes need no key. */
  readonly hasKey: boolean | undefined;
  readonly hasRuntimes: boolean;
  /** The active policy version, for the example of a heartbeat. */
  readonly activeVersion: string;
}

interface Step {
  readonly id: string;
  readonly title: string;
  readonly isDone: boolean;
  readonly advice: Html;
  /** Lines for a shell, in blocks that are copied one after another. */
  readonly lines?: readonly string[];
  /** The event that this step waits for. */
  readonly awaited?: string;
}

/** Renders the steps from an empty service to the first command; the next step is open. */
export function firstSteps(context: PageContext, beginning: Beginning): Html {
  const steps = stepsOf(context, beginning);
  const next = steps.find(({ isDone }) => !isDone);
  return html`<section class="card steps" aria-labelledby="steps-title">
    <header><h2 id="steps-title">First steps</h2></header>
    <ol>
      ${steps.map((step) => shown(step, step === next))}
    </ol>
  </section>`;
}

/** Renders a step. The next step has an id of its own: an element that is kept would keep its `open` state. */
function shown({ id, title, isDone, advice, lines, awaited }: Step, isNext: boolean): Html {
  return html`<li>
    <details id="step-${id}${isNext ? "-next" : ""}" ${isNext ? html`open` : undefined}>
      <summary>${title} ${isDone ? badge("Done", "ok") : undefined}</summary>
      <p>${advice}</p>
      ${lines?.map(shellLines)}
      ${
        isNext && awaited !== undefined
          ? html`<p class="awaited needs-modules" role="status">Waiting for ${awaited} …</p>`
          : undefined
      }
    </details>
  </li>`;
}

function stepsOf(context: PageContext, beginning: Beginning): readonly Step[] {
  const { hasKey, hasPolicy, hasRuntimes, activeVersion } = beginning;
  const heartbeat = curlLine(heartbeatRequest(context, activeVersion));
  const key: Step = {
    id: "key",
    title: "Create an API key",
    isDone: hasKey || hasRuntimes,
    advice: html`A runtime shows a key with each request.
      <a href="/portal/access/keys">Create one</a>: the page then has the lines that connect a
      runtime.`,
  };
  return [
    {
      id: "policy",
      title: "Publish a policy",
      isDone: hasPolicy,
      advice: html`Runtimes fetch the active version and decide by it.
        <a href="${EDITOR_PATH}">Write the first one</a>, or publish one from a shell. This one
        allows every command, so that you see what runs before you deny
        anything${context.needsCredential ? html`. ${TOKEN_ORIGIN}` : ":"}`,
      lines: [curlLine(publishRequest(context))],
    },
    ...(hasKey === undefined ? [] : [key]),
    {
      id: "runtime",
      title: "Connect a runtime",
      isDone: hasRuntimes,
      advice: html`<a href="/portal/agents">Agents</a> has the lines for AI agents, people and
        pipelines. A runtime of your own reads these settings, and appears in the fleet with its
        first heartbeat${hasKey === undefined ? "" : "; the last line waits for the key"}:`,
      lines: [runtimeLines(context), hasKey === undefined ? heartbeat : firstHeartbeat("build-1")],
      awaited: "the first heartbeat",
    },
    {
      id: "command",
      title: "Report a command",
      isDone: false,
      advice: html`A runtime reports each command that it allowed or denied. One by hand:`,
      lines: [curlLine(reportRequest(context))],
      awaited: "the first command",
    },
  ];
}

/** The request that reports a command. */
export function reportRequest(context: PageContext): ShownRequest {
  return apiRequest(context, "runtime", "POST /audit", {
    command: "terraform destroy",
    executor: "ada",
    policy_decision: "DENIED",
    reason: "Destroying needs a review",
  });
}

/** The request that publishes a first version: it allows all, since connected agents could do nothing without a rule. */
export function publishRequest(context: PageContext): ShownRequest {
  const yaml = "schema: signalbox/policy/v1\ndefault: allow\nrules: []\n";
  return apiRequest(context, "person", "POST /policies", { version: "v1", yaml });
}

/** The heartbeat of a runtime with the active version. */
export function heartbeatRequest(context: PageContext, activeVersion: string): ShownRequest {
  const body = { name: "build-1", policy_version: activeVersion || "v1" };
  return apiRequest(context, "runtime", "POST /fleet/heartbeat", body);
}
