/** The dialogs of the policy editor that publish its text, and that take over changes which others published. */
import { finish } from "../../core/scheduling/work.ts";
import type { Policy } from "../../policies/schema.ts";
import type { PolicyReplayReport } from "../../replay/report.ts";
import { html, type Html } from "../html.ts";
import { mergeTexts } from "./merge.ts";
import { nextVersion } from "./next-version.ts";
import { policyLink } from "../page-link.ts";
import { textField } from "../pages/fields.ts";
import { timeAgo } from "../pages/parts.ts";
import { observeNotice, policyChanges } from "../pages/policy-text.ts";
import { activeOf, readPolicy } from "../pages/source.ts";
import { ApiError } from "../pages/api-source.ts";
import { call, pageSource, reasonOf } from "./api.ts";
import { serviceNow } from "./clock.ts";
import { ask } from "./dialog.ts";
import { askToRollOut } from "./rollout-form.ts";

/** A text that is to be published, and the version that it is meant to replace. */
export interface Publishing {
  readonly yaml: string;
  /** `undefined` if no version was active when the text was begun. */
  readonly replaces: Policy | undefined;
}

/** The editor's reactions to the outcome. */
export interface PublishListener {
  onPublished(): void;
  /** The text would change more decisions than the publisher allows. */
  onRefused(report: PolicyReplayReport, words: string): void;
  /** Another version became active: the text goes on as a draft that replaces it. */
  onTaken(yaml: string, active: Policy | undefined): void;
}

/** Asks for the name of the version, and publishes it. */
export async function askToPublish(
  { yaml, replaces }: Publishing,
  listener: PublishListener,
): Promise<void> {
  const fields = await nameFields();
  const { words, shown } = changesOf(replaces, { name: "this text", yaml });
  ask({
    title: "Publish and activate",
    body: html`<p>
        ${
          replaces
            ? html`Runtimes will be given this text instead of
                <b class="mono">${replaces.version}</b>:`
            : "Runtimes will be given this text:"
        }
        ${words}.
      </p>
      ${observeNotice(yaml, "This text")} ${fields}
      ${textField({
        ...{ id: "most-denied", name: "most_denied", label: "Most newly denied commands" },
        ...{ type: "number", isOptional: true, placeholder: "any number" },
        hint: "If more commands of the last 7 days would be newly denied, nothing is published",
      })}
      ${shown}`,
    confirm: "Publish and activate",
    isWide: true,
    async run(form) {
      const most = String(form.get("most_denied"));
      const body = {
        ...bodyOf({ yaml, replaces }, form),
        ...(most !== "" && { guard: { max_newly_denied: Number(most) } }),
      };
      try {
        const { version } = await call<Policy>("POST", "/policies", { body });
        listener.onPublished();
        location.assign(policyLink(version));
      } catch (error) {
        if (!(error instanceof ApiError) || error.status !== 409) throw error;
        const { replay } = (error.body ?? {}) as { readonly replay?: PolicyReplayReport };
        if (replay) return listener.onRefused(replay, `Not published. ${reasonOf(error)}.`);
        const active = await readActive();
        if (active?.version === replaces?.version) throw error; // the name is taken
        askToTakeOver({ yaml, replaces }, active, listener);
      }
    },
  });
}

/** Asks for the name and the stages of the version, stores it without activating it, and begins its rollout. */
export async function askToStoreAndRollOut(
  publishing: Publishing,
  listener: Pick<PublishListener, "onPublished">,
): Promise<void> {
  const fields = await nameFields();
  await askToRollOut({
    title: "Store and roll out",
    body: html`${observeNotice(publishing.yaml, "This text")} ${fields}`,
    async version(form) {
      const body = { ...bodyOf(publishing, form), activate: false };
      const { version } = await call<Policy>("POST", "/policies", { body });
      listener.onPublished();
      return version;
    },
  });
}

/** The fields for the name of the version, in which the likely one stands, and for what it is about. */
async function nameFields(): Promise<Html> {
  const versions = await pageSource().versions();
  const names = versions.map(({ version }) => version);
  const value = nextVersion(activeOf(versions), names) ?? "";
  return html`<div class="two">
    ${textField({
      ...{ id: "version", name: "version", label: "Version name", isOptional: true },
      ...{ placeholder: "made from the time", maxLength: 128, value },
    })}
    ${textField({ id: "description", name: "description", label: "What it is about", isOptional: true, maxLength: 4096 })}
  </div>`;
}

function bodyOf({ yaml, replaces }: Publishing, form: FormData) {
  return {
    yaml,
    base_version: replaces?.version ?? "",
    version: String(form.get("version")),
    description: String(form.get("description")),
    ...(replaces && { name: replaces.name }),
  };
}

/** The active version as it is now. */
async function readActive(): Promise<Policy | undefined> {
  const source = pageSource();
  const versions = await source.versions();
  return readPolicy(source, versions, activeOf(versions));
}

/** Shows what another version changed beside what the text changes, and asks how to go on. */
export function askToTakeOver(
  { yaml, replaces }: Publishing,
  active: Policy | undefined,
  listener: PublishListener,
): void {
  const old = replaces?.version ?? "nothing";
  const name = active?.version ?? "nothing";
  const merged = active && finish(mergeTexts(replaces?.yaml ?? "", yaml, active.yaml));
  const theirs = changesOf(replaces, { name, yaml: active?.yaml ?? "" });
  const own = changesOf(replaces, { name: "your draft", yaml });
  ask({
    title: html`<span class="mono">${name}</span> is active now`,
    body: html`<p>
        Your draft was to replace <b class="mono">${old}</b>. It was not published, and it stays as
        it is. ${active && publishedBy(active)}
      </p>
      <h3>
        From <span class="mono">${old}</span> to <span class="mono">${name}</span>: ${theirs.words}
      </h3>
      ${theirs.shown}
      <h3>From <span class="mono">${old}</span> to your draft: ${own.words}</h3>
      ${own.shown}
      <p>
        ${
          merged === undefined
            ? html`Both change the same lines. Go on with your text, and carry over by hand what it
                lacks of <b class="mono">${name}</b>: the changes below the editor then show it as
                removed.`
            : "The changes touch different lines, and can be joined. Check the result before you publish it."
        }
      </p>`,
    confirm: merged === undefined ? `Go on with my text` : `Join the changes`,
    isWide: true,
    run: async () => listener.onTaken(merged ?? yaml, active),
  });
}

function publishedBy(active: Policy): Html {
  const { updated_at, updated_by, activated_at = updated_at, activated_by = updated_by } = active;
  return html`<b class="mono">${active.version}</b> became active
    ${timeAgo(activated_at, serviceNow())}, by ${activated_by}.`;
}

function changesOf(
  before: Policy | undefined,
  after: { readonly name: string; readonly yaml: string },
) {
  const { version: name = "nothing", yaml = "" } = before ?? {};
  return finish(policyChanges({ name, yaml }, after));
}
