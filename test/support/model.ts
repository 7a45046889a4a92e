/**
 * A model of Signalbox: its data in plain lists and maps, and its answers by the plainest code
 * possible, without indexes, files or caches. It decides right and wrong for the sequences of
 * `test/journeys/model.test.ts`, so it states the rules a second time instead of importing them.
 */
import assert from "node:assert/strict";
import { isDeepStrictEqual } from "node:util";
import type { AuditEvent } from "../../src/audit/schema.ts";
import { providerUseOf } from "../audit/naive-audit.ts";

type Given = Readonly<Record<string, unknown>>;

/** The expected status, and the expected body if the model knows it. */
export interface Expected {
  readonly status: number;
  readonly body?: unknown;
}

interface Version {
  readonly version: string;
  readonly [field: string]: unknown;
}

interface Runtime {
  readonly name: string;
  readonly lastSeen: number;
  readonly [field: string]: unknown;
}

/** A key as it is listed, and its text, which only its creator has. */
export interface Key {
  readonly text: string;
  readonly shown: {
    readonly id: string;
    readonly revoked: boolean;
    readonly last_used_at?: string;
    readonly [field: string]: unknown;
  };
}

/** A user in public form, with the password and the number of times that tokens were ended. */
export interface User {
  readonly shown: {
    readonly id: string;
    readonly email: string;
    readonly name: string;
    readonly role: string;
    readonly active: boolean;
    readonly organization_id: string;
  };
  readonly password: string;
  readonly tokensEnded: number;
}

const MINUTE_MS = 60_000;
const ALIASES = new Map([
  ["executor", "user"],
  ["provider", "tool"],
  ["resource", "repository"],
  ["policy_decision", "decision"],
  ["policy", "policyVersion"],
  ["trace_id", "traceId"],
  ["runtime_name", "runtimeName"],
  ["duration_ms", "durationMs"],
]);
const PLAIN = ["id", "timestamp", "command", "capability", "status", "reason", "consumer", "ai"];

/** The data of one organization. */
export class OrganizationModel {
  readonly id: string;
  /** Oldest first. */
  policies: readonly Version[] = [];
  active = "";
  /** In the order of ingest. */
  events: readonly AuditEvent[] = [];
  /** Most recently seen first. */
  runtimes: readonly Runtime[] = [];
  /** Newest first. */
  keys: readonly Key[] = [];
  /** Oldest first. */
  users: readonly User[];
  settings: readonly { readonly key: string; readonly value: string }[] = [];
  overrides: ReadonlyMap<string, string> = new Map();
  /** The actions of the activity log, newest first. */
  actions: readonly string[];

  constructor(id: string, users: readonly User[], actions: readonly string[]) {
    this.id = id;
    this.users = users;
    this.actions = actions;
  }

  publish(given: Given, isValidYaml: boolean, by: string, now: number): Expected {
    const { version = "", yaml, name = "enterprise-policy" } = given;
    if (!isValidYaml || (version !== "" && !isVersionName(version))) return { status: 400 };
    if (this.#versions().includes(version as string)) return { status: 409 };
    const stored = (version as string) || this.#freeName(now);
    const row = { organization_id: this.id, name, version: stored, yaml };
    this.policies = [...this.policies, { ...row, updated_by: by, updated_at: timeOf(now) }];
    if (given["activate"] !== false) this.active = stored;
    this.#changed("policy.publish");
    return { status: 201, body: this.policy(stored) };
  }

  activate(version: string, by: string, now: number): Expected {
    if (!this.#versions().includes(version)) return { status: 404 };
    const activation = { activated_at: timeOf(now), activated_by: by };
    if (this.active !== version) {
      this.policies = this.policies.map((one) =>
        one.version === version ? { ...one, ...activation } : one,
      );
    }
    if (this.active !== version) this.#changed("policy.activate");
    this.active = version;
    return { status: 200, body: this.policy(version) };
  }

  /** The answer with a version. */
  policy(version: string): Given | undefined {
    const found = this.policies.find((one) => one.version === version);
    return found && { ...found, active: version === this.active };
  }

  policyList(): Given {
    const policies = this.#versions().map((version) => this.policy(version));
    return { active: this.active, policies: policies.reverse() };
  }

  /**
   * Stores events, all or none.
   *
   * @param by the email of the user who reports them, or another text if there is no user
   * @param drawnId the id that the service drew for the event at an index
   */
  ingest(
    given: readonly unknown[],
    by: string,
    now: number,
    drawnId: (index: number) => string,
  ): Expected {
    const reporter = this.users.find(({ shown }) => shown.email === by)?.shown.id;
    const complete = given.map((raw) => this.#completed(raw, now));
    if (complete.includes(undefined)) return { status: 400 };
    const answered = given.map((_, index) => {
      const event = { ...complete[index] } as Omit<AuditEvent, "id"> & { readonly id?: string };
      const known = this.events.find(
        ({ id, reported_by }) => id === event.id && reported_by === reporter,
      );
      if (known !== undefined) return known;
      const id = event.id ?? drawnId(index);
      const stored = { ...event, ...(reporter && { reported_by: reporter }), id };
      const isDrawn = event.id === undefined && this.events.some((one) => one.id === id);
      assert.ok(!isDrawn, `"${id}" is drawn twice`);
      this.events = [...this.events, stored];
      return stored;
    });
    return { status: 202, body: answered };
  }

  heartbeat(given: Given, now: number): Expected {
    const name = String(given["name"] ?? "").trim();
    if (name === "") return { status: 400 };
    const known = this.runtimes.find((runtime) => runtime.name === name);
    const rest = this.runtimes.filter((runtime) => runtime !== known);
    const news = Object.entries(given).filter(([, value]) => value !== "");
    this.runtimes = [{ ...known, ...Object.fromEntries(news), name, lastSeen: now }, ...rest];
    return { status: known ? 200 : 201, body: name };
  }

  forget(given: string): Expected {
    const name = given.trim();
    const rest = this.runtimes.filter((runtime) => runtime.name !== name);
    if (rest.length === this.runtimes.length) return { status: 404 };
    this.runtimes = rest;
    this.#changed("runtime.forget");
    return { status: 200, body: { id: given, status: "deleted" } };
  }

  fleet(now: number): Given {
    const runtimes = this.runtimes.map(({ lastSeen, ...runtime }) => {
      const minutes = (now - lastSeen) / MINUTE_MS;
      const status = minutes < 15 ? "online" : minutes < 24 * 60 ? "idle" : "offline";
      return { ...runtime, last_seen: timeOf(lastSeen), status };
    });
    return { runtimes };
  }

  /** The fleet in numbers, without its versions. */
  fleetSummary(now: number): Given {
    const rows = this.fleet(now)["runtimes"] as readonly {
      readonly status: string;
      readonly policy_version?: string;
    }[];
    const are = (status: string): number => rows.filter((row) => row.status === status).length;
    const drifted = rows.filter(
      ({ status, policy_version: version }) =>
        this.active !== "" && status !== "offline" && version && version !== this.active,
    );
    return {
      ...{ online: are("online"), idle: are("idle"), offline: are("offline") },
      ...{ drifted: drifted.length, total: rows.length, policy_version: this.active },
    };
  }

  keyCreated(key: Key): void {
    this.keys = [key, ...this.keys];
    this.#changed("key.create");
  }

  revoke(id: string): Expected {
    const known = this.keys.find(({ shown }) => shown.id === id);
    if (!known) return { status: 404 };
    this.keys = this.keys.map((key) =>
      key.shown.id === id ? { ...key, shown: { ...key.shown, revoked: true } } : key,
    );
    if (!known.shown.revoked) this.#changed("key.revoke");
    return { status: 200, body: { id, status: "revoked" } };
  }

  /** Sets a key's last use: now, or the time that a crash has left; `undefined` if never used. */
  keyUsed(id: string, last_used_at: string | undefined): void {
    this.keys = this.keys.map((key) => {
      const { last_used_at: _, ...shown } = key.shown;
      if (shown.id !== id) return key;
      return { ...key, shown: { ...shown, ...(last_used_at && { last_used_at }) } };
    });
  }

  userCreated(user: User): void {
    this.users = [...this.users, user];
    this.#changed("user.create");
  }

  /** Changes a user; `by` is the email of the user who requests it. */
  changeUser(id: string, change: Partial<User["shown"]>, by: string): Expected {
    const user = this.users.find(({ shown }) => shown.id === id);
    if (user === undefined) return { status: 404 };
    const changesRole = change.role !== undefined && change.role !== user.shown.role;
    if (user.shown.email === by && changesRole) return { status: 403 };
    const shown = { ...user.shown, ...change };
    const staysAdmin = shown.role === "admin" && shown.active;
    if (this.#isLastAdmin(user) && !staysAdmin) return { status: 409 };
    const tokensEnded = user.tokensEnded + (user.shown.active && !shown.active ? 1 : 0);
    const changed = { ...user, shown, tokensEnded };
    this.users = this.users.map((one) => (one === user ? changed : one));
    if (!isDeepStrictEqual(shown, user.shown)) this.#changed("user.change");
    return { status: 200, body: shown };
  }

  deleteUser(id: string): Expected {
    const user = this.users.find(({ shown }) => shown.id === id);
    if (user === undefined) return { status: 404 };
    if (this.#isLastAdmin(user)) return { status: 409 };
    this.users = this.users.filter((one) => one !== user);
    this.#changed("user.delete");
    return { status: 200, body: { id, status: "deleted" } };
  }

  replaceSettings(pairs: OrganizationModel["settings"]): Expected {
    if (new Set(pairs.map(({ key }) => key)).size < pairs.length) return { status: 400 };
    const isSame = isDeepStrictEqual(valuesOf(pairs), valuesOf(this.settings));
    this.settings = pairs;
    if (!isSame) this.#changed("settings.replace");
    return { status: 200, body: pairs };
  }

  setProvider(id: string, status: string | undefined, isInCatalog: boolean): Expected {
    const isLift = status === undefined;
    const isSame = this.overrides.get(id) === status;
    if (isLift ? !this.overrides.has(id) : !isInCatalog) return { status: 404 };
    const rest = [...this.overrides].filter(([one]) => one !== id);
    this.overrides = new Map(isLift ? rest : [...rest, [id, status]]);
    if (!isSame) this.#changed(isLift ? "provider.lift" : "provider.set");
    return { status: 200 };
  }

  providerStatus(id: string, now: number): string {
    const { events = 0, failed = 0 } = providerUseOf(this.events, [id], now).get(id) ?? {};
    const derived =
      events === 0 ? "offline" : events >= 5 && 2 * failed >= events ? "degraded" : "";
    return this.overrides.get(id) ?? (derived || "connected");
  }

  /** Records an action that leaves an entry in the activity log and changes nothing else. */
  told(action: string): void {
    this.#changed(action);
  }

  #changed(action: string): void {
    this.actions = [action, ...this.actions];
  }

  #versions(): string[] {
    return this.policies.map(({ version }) => version);
  }

  #freeName(now: number): string {
    const stem = timeOf(now).replace(/\.\d+/, "").replaceAll(/[-:]/g, "");
    const names = [stem, ...this.policies.map((_, i) => `${stem}-${i + 2}`)];
    return names.find((name) => !this.#versions().includes(name)) ?? "";
  }

  #isLastAdmin(user: User): boolean {
    const admins = this.users.filter(({ shown }) => shown.active && shown.role === "admin");
    return admins.length === 1 && admins[0] === user;
  }

  /** An event as it is stored, apart from a drawn id; `undefined` if it is invalid. */
  #completed(raw: unknown, now: number): Given | undefined {
    const given = foldedEvent(raw);
    if (given === undefined) return undefined;
    const { command, policy_decision: decision } = given as { readonly [name: string]: string };
    const word = command?.trim().split(/\s/)[0];
    const consumer = String(given["consumer"] ?? (given["ai"] === true ? "ai" : "human"));
    const upper = decision?.toUpperCase();
    return {
      organization_id: this.id,
      ingested_at: timeOf(now),
      ...(word && { provider: word }),
      status: upper === undefined ? "unknown" : upper.toLowerCase(),
      ...given,
      timestamp: given["timestamp"] ?? timeOf(now),
      consumer: consumer.toLowerCase(),
      ai: given["ai"] ?? consumer.toLowerCase() === "ai",
      ...(upper && { policy_decision: upper }),
    };
  }
}

function valuesOf(settings: OrganizationModel["settings"]): ReadonlyMap<string, string> {
  return new Map(settings.map(({ key, value }) => [key, value]));
}

/** The fields of an event under their canonical names; `undefined` if it is invalid. */
function foldedEvent(raw: unknown): Given | undefined {
  if (typeof raw !== "object" || raw === null || "broken" in raw) return undefined;
  const given = raw as Given;
  const names = [...PLAIN, ...ALIASES.keys()];
  const fields = names.map((name) => {
    const values = [given[name], given[ALIASES.get(name) ?? name]];
    return [name, values.find((value) => value !== "" && (value ?? undefined) !== undefined)];
  });
  const present = fields.filter(([, value]) => value !== undefined);
  return present.length === 0 ? undefined : (Object.fromEntries(present) as Given);
}

function isVersionName(version: unknown): boolean {
  if (typeof version !== "string" || version === "." || version === "..") return false;
  return /^[^\p{Cc}\u2028\u2029]{1,128}$/u.test(version);
}

/** A moment in milliseconds, as the service formats it. */
export function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}
