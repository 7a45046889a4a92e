import { consumers } from "../../core/decision.ts";
import type { Work } from "../../core/scheduling/work.ts";
import { string } from "../../core/schema-parts.ts";
import type { QueryParameters } from "../../http/query.ts";
import type { Policy } from "../../policies/schema.ts";
import { curlLine } from "../curl.ts";
import { html, plainText, type Html } from "../html.ts";
import { valueWords } from "./audit-view.ts";
import { choice, option, textField } from "./fields.ts";
import { POLICIES_PATH } from "../page-link.ts";
import { breadcrumb, card, type PageContext, shellLines } from "./parts.ts";
import { activeOf, readPolicy, type DataPage } from "./source.ts";
import { allowedOrNote, ifAllowed } from "../withheld.ts";
import { publishRequest } from "./first-steps.ts";
import { openingLines } from "./painted-lines.ts";
import { observeNotice } from "./policy-text.ts";
import { replayCard } from "./policy-replay.ts";

const parameters = {
  from: string("The version to begin with. The default is the active version."),
} as const satisfies QueryParameters;

/** The model of the policy editor. */
export interface PolicyEditorModel extends PageContext {
  readonly active: Policy | undefined;
  /** The version that the draft begins with; without one it begins with an example. */
  readonly base: Policy | undefined;
}

/** The page on which a policy version is written. */
export const policyEditor: DataPage<PolicyEditorModel, typeof parameters> = {
  path: POLICIES_PATH,
  title: "New policy version",
  module: "policy-editor",
  parameters,
  async read(source, context, { from }) {
    const versions = await source.versions();
    const active = await readPolicy(source, versions, activeOf(versions));
    const base = from === undefined ? active : await readPolicy(source, versions, from);
    return { ...context, active, base };
  },
  render: renderPolicyEditor,
};

const ESCAPED_AT_ONCE = 16_384;

const EXAMPLE = `schema: signalbox/policy/v1
name: enterprise-policy
default: deny

rules:
  - id: read-only-git
    effect: allow
    match:
      commands:
        - prefix: git status
        - prefix: git log

  - id: no-destroy
    effect: deny
    reason: Destroying needs a review
    match:
      commands:
        - glob: "terraform destroy*"

tests:
  - command: git status
    expect: allow
  - command: terraform destroy -auto-approve
    expect: deny
    rule: no-destroy
`;

/** The first text of a new draft. */
export function startingText({ base }: Pick<PolicyEditorModel, "base">): string {
  return base?.yaml ?? EXAMPLE;
}

/** Renders the editor with its checks, simulator and changes. */
function* renderPolicyEditor(model: PolicyEditorModel): Work<Html> {
  const start = startingText(model);
  const text = yield* escaped(start);
  const opening = openingLines(start);
  const painted = html`${"\n"}${opening.text}`; // the first line break of a "pre" is dropped
  const numbers = html`<div class="needs-modules">${opening.numbers}</div>`;
  const { active } = model;
  return html`<div class="page-head">
      ${breadcrumb(POLICIES_PATH, "Policies")}
      <h1>New policy version</h1>
      <span class="faint" id="begins">${beginning(model.base?.version)}</span>
      <div class="actions">
        <button type="button" class="quiet needs-modules" id="restore" hidden>
          Bring the discarded draft back
        </button>
        <button type="button" class="quiet needs-modules" id="discard" hidden>
          Discard the draft
        </button>
        ${
          active &&
          ifAllowed(
            model,
            "POST /rollouts",
            html`<button type="button" class="needs-modules" id="roll-out" disabled>
              Store and roll out…
            </button>`,
          )
        }
        ${ifAllowed(
          model,
          "POST /policies",
          html`<button type="button" class="primary needs-modules" id="publish" disabled>
            Review and publish…
          </button>`,
        )}
      </div>
    </div>
    ${allowedOrNote(model, "POST /policies", "Publishing a policy")}
    <noscript>${withoutModules(model)}</noscript>
    <div id="draft-notice"></div>
    <ol class="card problems" id="notes" aria-label="Drafted from events" hidden></ol>
    <div class="grid editing">
      <section class="card" aria-labelledby="editor-title">
        <header>
          <h2 id="editor-title"><label for="yaml">Policy document</label></h2>
          <span id="verdict" class="small faint needs-modules" role="status">Checking…</span>
        </header>
        <div id="observes">${observeNotice(start, "This text")}</div>
        <div class="editor">
          <pre class="gutter" id="gutter" aria-hidden="true">${numbers}</pre>
          <div class="text">
            <textarea
              id="yaml"
              wrap="off"
              spellcheck="false"
              autocomplete="off"
              autocapitalize="off"
              aria-describedby="verdict editing-keys"
              aria-autocomplete="list"
              aria-controls="words"
              data-search
              data-kept
            >
${text}</textarea>
            <pre class="paint needs-modules" id="paint" aria-hidden="true">${painted}</pre>
            <ul class="words" id="words" role="listbox" aria-label="Completions" hidden></ul>
          </div>
        </div>
        <p class="inside faint small needs-modules" id="editing-keys">
          <kbd>Tab</kbd> indents, and leaves the text after <kbd>Esc</kbd>. <kbd>Ctrl</kbd>
          <kbd>Space</kbd> completes.
        </p>
        <ol class="problems" id="problems"></ol>
      </section>
      ${simulator()} ${replayCard()}
      <section class="card wide" aria-labelledby="changes-title">
        <header>
          <h2 id="changes-title">${changesTitle(active?.version)}</h2>
          <span id="changes-words" class="small faint"></span>
        </header>
        <div id="changes"></div>
      </section>
    </div>`;
}

/** Names the version that a draft begins with. */
export function beginning(version: string | undefined): Html {
  if (version === undefined) return html`begins with an example`;
  return html`begins with <span class="mono">${version}</span>`;
}

/** Names the version that a draft is compared with, and is meant to replace. */
export function changesTitle(version: string | undefined): Html {
  if (version === undefined) return html`Changes`;
  return html`Changes to <span class="mono">${version}</span>`;
}

/** Escapes a text of up to 1 MiB in parts, so that other requests can run between them. */
function* escaped(text: string): Work<readonly Html[]> {
  const parts: Html[] = [];
  for (let at = 0; at < text.length; at += ESCAPED_AT_ONCE) {
    parts.push(plainText(text.slice(at, at + ESCAPED_AT_ONCE)));
    yield;
  }
  return parts;
}

function simulator(): Html {
  const field = (name: string, label: string, placeholder: string): Html =>
    textField({ id: `try-${name}`, name, label, placeholder, isOptional: true });
  const choices = [
    option("", "Not said"),
    consumers.map((one) => option(one, valueWords("consumer", one))),
  ];
  return card(
    "try-title",
    "Try commands",
    html`<noscript>
        <p class="inside faint">
          From a shell, <code>POST /policies/simulate</code> tries commands.
        </p>
      </noscript>
      <form class="inside needs-modules" id="simulate" method="post">
        <div class="field">
          <label for="try-command">Commands, one in each line</label>
          <textarea
            id="try-command"
            name="command"
            rows="4"
            wrap="off"
            spellcheck="false"
            autocomplete="off"
            placeholder="git push --force"
          ></textarea>
        </div>
        <details>
          <summary>Who runs it, and on what; or a tool without a command</summary>
          ${field("provider", "Provider", "the command's first word")}
          ${field("capability", "Capability", "git/push")}
          ${choice({ id: "try-consumer", name: "consumer", label: "Consumer", options: choices })}
          ${field("executor", "Executor", "ada")} ${field("resource", "Resource", "repo/web")}
        </details>
        <div class="try">
          <button type="submit">Try them</button>
          <ol id="decision" class="decisions" aria-live="polite"></ol>
        </div>
      </form>`,
  );
}

function withoutModules(model: PolicyEditorModel): Html {
  return html`<div class="notice">
    <p>The editor needs JavaScript. From a shell a version is published like this:</p>
    ${shellLines(curlLine(publishRequest(model)))}
  </div>`;
}
