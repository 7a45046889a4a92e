/** Compares a service with the model, organization by organization, in everything that can be read. */
import assert from "node:assert/strict";
import type { AuditEvent } from "../../src/audit/schema.ts";
import { activityOf, matchesOf } from "../audit/naive-audit.ts";
import type { Answer, SentHeaders } from "./client.ts";
import type { Expected, OrganizationModel } from "./model.ts";
import type { App } from "./start.ts";

/** A way to view an organization: a prefix and credentials. */
export interface View {
  readonly prefix: "/api/public" | "/api/v1";
  readonly organization: string;
  /** The actor that changes through this view are recorded under. */
  readonly by: string;
  readonly headers: SentHeaders;
  /** The text in a counterexample: a token would be long and useless there. */
  readonly toString: () => string;
}

/** A token from a sign-in, valid until its user's tokens are ended. */
export interface Token {
  readonly headers: SentHeaders;
  readonly userId: string;
  readonly tokensEnded: number;
}

/** Everything that a service should store. */
export interface Model {
  readonly views: readonly View[];
  readonly organizations: ReadonlyMap<string, OrganizationModel>;
  tokens: readonly Token[];
  /** The id of every runtime that ever registered, by organization and name. */
  readonly runtimeIds: Map<string, string>;
}

/** The providers whose status is compared; the last one is in no catalog. */
export const PROVIDERS = ["git", "kubernetes", "none"] as const;

/** Fails unless an answer has the expected status and body. */
export function checkAnswer(
  answer: Answer,
  { status, body }: Expected,
  part: (body: Answer["body"]) => unknown = (whole: unknown) => whole,
): void {
  assert.equal(answer.status, status, answer.text);
  if (body !== undefined) assert.deepEqual(part(answer.body), body);
}

/** The organization of a view. */
export function organizationOf(model: Model, { organization }: View): OrganizationModel {
  const found = model.organizations.get(organization);
  assert.ok(found);
  return found;
}

/** Reads everything that every view shows, and compares it. */
export async function checkAll(model: Model, app: App): Promise<void> {
  for (const view of model.views) {
    const organization = organizationOf(model, view);
    await checkShared(view, organization, app);
    if (view.prefix === "/api/v1") await checkManaged(view, organization, app);
  }
}

async function checkShared(view: View, organization: OrganizationModel, app: App): Promise<void> {
  const read = async (path: string): Promise<Answer> => app.get(view.prefix + path, view.headers);
  assert.deepEqual((await read("/policies")).body, organization.policyList());
  const active = organization.policy(organization.active);
  const status = active === undefined ? 404 : 200;
  checkAnswer(await read("/policies?active=true"), { status, body: active });
  assert.deepEqual((await read("/fleet")).body, organization.fleet(app.now));
  const { policy_versions: _, ...summary } = (await read("/fleet/summary")).body;
  assert.deepEqual(summary, organization.fleetSummary(app.now));

  const events = matchesOf(organization.events, {});
  const page = (await read("/audit?limit=1000")).body;
  assert.deepEqual([page.events, page.total], [events.slice(0, 1000), events.length]);
  const today = activityOf(organization.events, app.now);
  const { body } = await read("/dashboard");
  const counts = [body.commands_today, body.allowed_today, body.denied_today, body.ai_operations];
  assert.deepEqual(counts, [today.commands, today.allowed, today.denied, today.ai]);
  assert.deepEqual(body.recent_audit, events.slice(0, 10));
  assert.equal(body.policy_version, organization.active);
  assert.equal(body.runtimes_drifted, summary.drifted);
  const { providers } = (await read("/providers")).body;
  for (const id of PROVIDERS.slice(0, -1)) {
    const row = providers.find((one: { id: string }) => one.id === id);
    assert.equal(row.status, organization.providerStatus(id, app.now), id);
  }
}

async function checkManaged(view: View, organization: OrganizationModel, app: App): Promise<void> {
  const read = async (path: string): Promise<Answer["body"]> =>
    (await app.get(view.prefix + path, view.headers)).body;
  const keys = organization.keys.map(({ shown }) => shown);
  assert.deepEqual((await read("/api-keys")).api_keys, keys);
  const users = organization.users.map(({ shown }) => shown);
  assert.deepEqual((await read("/users")).users, users);
  const settings = await read("/settings");
  assert.deepEqual(settings.settings, organization.settings);
  assert.equal(settings.audit.events, organization.events.length);
  const { entries, total } = await read("/activity?limit=1000");
  const actions = entries.map(({ action }: { action: string }) => action);
  assert.deepEqual([actions, total], [organization.actions, organization.actions.length]);
}

/** The ids of events; enough if the events themselves were compared before. */
export function idsOf(events: readonly AuditEvent[]): readonly string[] {
  return events.map(({ id }) => id);
}
