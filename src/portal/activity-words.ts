/** The words of the activity page: verbs for actions, and lines for changed fields. */
import type { ActivityEntry } from "../activity/schema.ts";
import { html, type Html } from "./html.ts";

/** The verb of each action, as written between the actor and the target. */
const DEEDS: ReadonlyMap<string, string> = new Map([
  ["policy.publish", "published policy version"],
  ["policy.activate", "activated policy version"],
  ["rollout.create", "began the rollout"],
  ["rollout.advance", "advanced the rollout"],
  ["rollout.pause", "paused the rollout"],
  ["rollout.resume", "resumed the rollout"],
  ["rollout.roll_back", "rolled back the rollout"],
  ["rollout.pass", "passed a stage of the rollout"],
  ["rollout.breach", "stopped the rollout"],
  ["rollout.complete", "completed the rollout"],
  ["rollout.supersede", "ended the rollout"],
  ["key.create", "created the API key"],
  ["key.revoke", "revoked the API key"],
  ["user.create", "added the user"],
  ["user.change", "changed the user"],
  ["user.delete", "deleted the user"],
  ["login.succeeded", "signed in"],
  ["login.failed", "failed to sign in as"],
  ["logout", "signed out"],
  ["password.change", "changed their own password"],
  ["organization.create", "created the organization"],
  ["organization.rename", "renamed the organization"],
  ["settings.replace", "changed settings"],
  ["provider.set", "set the status of provider"],
  ["provider.lift", "lifted the status that was set for provider"],
  ["runtime.forget", "forgot the runtime"],
  ["audit.export", "exported audit events"],
  ["audit.ticket", "asked for an export of audit events"],
  ["log.contradicted", "no longer signs the log"],
]);

/** Actions whose verb already names the target. */
const WITHOUT_TARGET: ReadonlySet<string> = new Set([
  "login.succeeded",
  "logout",
  "password.change",
]);

/** The kinds of actions that the page can be filtered by. */
export const ACTION_KINDS = [
  ["policy", "Policies"],
  ["rollout", "Rollouts"],
  ["key", "API keys"],
  ["user", "Users"],
  ["login", "Sign-ins"],
  ["logout", "Sign-outs"],
  ["password", "Own passwords"],
  ["organization", "Organizations"],
  ["settings", "Settings"],
  ["provider", "Providers"],
  ["runtime", "Runtimes"],
  ["audit", "Exports"],
] as const;

/** The verb of an action; an unknown action is shown as it is. */
export function deedOf(action: string): string {
  return DEEDS.get(action) ?? action;
}

/** Whether the verb of an action needs the name of its target. */
export function namesTarget(action: string): boolean {
  return !WITHOUT_TARGET.has(action);
}

type Facts = Readonly<Record<string, unknown>>;

/** One field of a change, before and after; `undefined` where the field was absent. */
export interface ChangedField {
  readonly name: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** The fields that differ between two states. */
export function changedFields(before: Facts = {}, after: Facts = {}): readonly ChangedField[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names]
    .map((name) => ({ name, before: written(before, name), after: written(after, name) }))
    .filter((field) => field.before !== field.after);
}

function written(facts: Facts, name: string): string | undefined {
  const value = Object.hasOwn(facts, name) ? facts[name] : undefined;
  if (value === undefined || value === null) return undefined;
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value !== "string") return JSON.stringify(value);
  return name === "state" ? value.replace("_", " ") : value;
}

/** Writes a change of a field: `role: viewer → admin`. */
export function changeLine({ name, before, after }: ChangedField): Html {
  const arrow = html`
    <span aria-hidden="true">→</span><span class="visually-hidden">became</span>
  `;
  // An empty old value adds nothing beside the new one.
  const old = before === undefined || before === "" ? undefined : html`<del>${quiet(before)}</del>`;
  const fresh =
    after === undefined ? html`<span class="faint">gone</span>` : html`<ins>${quiet(after)}</ins>`;
  return html`<span class="field-name">${name.replaceAll("_", " ")}</span>
    ${old}${old && arrow}${fresh}`;
}

function quiet(value: string): Html | string {
  return value === "" ? html`<span class="faint">empty</span>` : value;
}

/** The words for the surface of a change; the command line and the service itself call no route. */
export function originOf(surface: ActivityEntry["surface"]): string {
  if (surface === "command" || surface === "service") return "on the server";
  return surface === "public" ? "by /api/public" : "by /api/v1";
}
