/** Every store at work on a disk that forgets, for the tests that stop it between two steps. */
import type { ActivityEntry } from "../../src/activity/schema.ts";
import { configFromOptions } from "../../src/config.ts";
import { SECOND_MS } from "../../src/core/clock.ts";
import type { FleetStore } from "../../src/fleet/store.ts";
import type { StoredKey } from "../../src/keys/schema.ts";
import type { Durability } from "../../src/storage/append-log-options.ts";
import { DamageRegister } from "../../src/storage/damage.ts";
import { makeRootDirectory } from "../../src/storage/directories.ts";
import { Layout } from "../../src/storage/layout.ts";
import { FileActivity } from "../../src/storage/files/activity.ts";
import { FileAuditStore } from "../../src/storage/files/audit.ts";
import { FileFleet } from "../../src/storage/files/fleet.ts";
import { readFileIfAny } from "../../src/storage/snapshot.ts";
import type { Stores } from "../../src/engine.ts";
import { openFileEngine } from "../../src/storage/files/engine.ts";
import { changedUser, draftUser } from "../../src/users/draft.ts";
import type { Rollout } from "../../src/rollouts/schema.ts";
import { stepped } from "../../src/rollouts/state.ts";
import { append, auditEventOf, page } from "../audit/store-suite.ts";
import { all, report } from "../fleet/store-suite.ts";
import { rolloutOf } from "../rollouts/store-suite.ts";
import { draftOf, listOf } from "../policies/store-suite.ts";
import type { Scenario, Step, Worker } from "../support/cut-points.ts";
import type { ForgetfulFiles } from "../support/forgetful-files.ts";
import { silent, T0 } from "./files/fleet-engine.ts";

const HOME = "default";
const AT = new Date(T0).toISOString();
const SEGMENT_BYTES = 2_500; // a dozen events
const FOLD_AT = 200; // bytes: three reports
const layout = new Layout("/data");
const now = (): number => T0;

type Work<S> = Step<S>["run"];

function worker<S>(
  name: string,
  see: Worker<S>["see"],
  steps: Readonly<Record<string, Work<S> | { readonly lazily: Work<S> }>>,
): Worker<S> {
  return {
    name,
    see,
    steps: Object.entries(steps).map(([step, run]) =>
      typeof run === "function"
        ? { name: step, run }
        : { name: step, run: run.lazily, isLazy: true },
    ),
  };
}

function policies(): Worker<Stores> {
  const see = async (stores: Stores) => {
    const list = await listOf(stores.policies, HOME);
    const active = list.filter((policy) => policy.active);
    if (active.length !== Math.min(1, list.length)) throw new Error("Not exactly one is active");
    return { list, active: await stores.policies.activeVersion(HOME) };
  };
  return worker("policies", see, {
    "publish v1": (stores) => stores.policies.publish(HOME, draftOf("v1", "a: 1")),
    "publish v2": (stores) => stores.policies.publish(HOME, draftOf("v2", "b: 2 # ".repeat(700))),
    "activate v1": (stores) => stores.policies.activate(HOME, "v1", AT, "ada"),
    "publish v3": (stores) => stores.policies.publish(HOME, draftOf("v3", "a: 3")),
  });
}

function keys(): Worker<Stores> {
  const keyOf = (id: string): StoredKey => ({
    id,
    organization_id: HOME,
    name: id,
    prefix: `sbx_${id}`,
    hash: id.padStart(64, "0"),
    scopes: "runtime",
    revoked: false,
    created_at: AT,
  });
  return worker("keys", async (stores) => stores.keys.list(HOME), {
    "create k1": (stores) => stores.keys.create(HOME, keyOf("k1")),
    "create k2": (stores) => stores.keys.create(HOME, keyOf("k2")),
    "revoke k1": (stores) => stores.keys.revoke(HOME, "k1"),
  });
}

function users(): Worker<Stores> {
  const user = (id: string, role: "admin" | "viewer") => ({
    ...draftUser({ email: `${id}@example.com`, role }, "hash", id, T0),
    organization_id: HOME,
  });
  return worker("users", async (stores) => stores.users.list(HOME), {
    "create ada": (stores) => stores.users.create(HOME, user("ada", "admin")),
    "create bob": (stores) => stores.users.create(HOME, user("bob", "viewer")),
    "rename bob": (stores) =>
      stores.users.change(HOME, "bob", (bob) => changedUser(bob, { name: "Bob" }, T0)),
    "remove bob": (stores) => stores.users.remove(HOME, "bob"),
  });
}

function organizations(): Worker<Stores> {
  const draft = { name: "Globex", slug: "globex", created_at: AT };
  const admin = draftUser({ email: "eve@example.com", role: "admin" }, "hash", "eve", T0);
  const see = async (stores: Stores) => ({
    organization: stores.organizations.get("globex"),
    users: stores.users.list("globex"),
    policies: await listOf(stores.policies, "globex"),
  });
  return worker("organizations", see, {
    "create globex": (stores) => stores.organizations.create(draft, admin),
    "publish in globex": (stores) => stores.policies.publish("globex", draftOf("g1", "a: 1")),
    "rename globex": (stores) => stores.organizations.rename("globex", "Globex Corporation", AT),
  });
}

function settings(): Worker<Stores> {
  const pairs = (value: string) => [{ key: "region", value }];
  return worker("settings", async (stores) => stores.settings.list(HOME), {
    "set north": (stores) => stores.settings.replace(HOME, pairs("north")),
    "set south": (stores) => stores.settings.replace(HOME, pairs("south")),
  });
}

function rollouts(): Worker<Stores> {
  const ended = (rollout: Rollout): Rollout =>
    stepped(rollout, { kind: "roll_back" }, { by: "ada", at: AT });
  return worker("rollouts", async (stores) => stores.rollouts.list(HOME), {
    "create r1": (stores) => stores.rollouts.create(HOME, rolloutOf("r1")),
    "end r1": (stores) => stores.rollouts.update(HOME, "r1", ended),
    "create r2": (stores) => stores.rollouts.create(HOME, rolloutOf("r2")),
  });
}

function overrides(): Worker<Stores> {
  return worker("overrides", async (stores) => [...(await stores.overrides.all(HOME))], {
    "set git": (stores) => stores.overrides.set(HOME, "git", "degraded"),
    "set aws": (stores) => stores.overrides.set(HOME, "aws", "offline"),
    "lift git": (stores) => stores.overrides.lift(HOME, "git"),
  });
}

/** An entry that is written a number of seconds after the start. */
function activityAt(id: string, seconds: number): ActivityEntry {
  return {
    id,
    organization_id: HOME,
    timestamp: new Date(T0 + seconds * SECOND_MS).toISOString(),
    actor: { kind: "anonymous" },
    request_id: id,
    surface: "v1",
    action: "policy.publish",
    target: { type: "policy", id },
    outcome: "done",
  };
}

function activity(): Worker<Stores> {
  const step =
    (id: string): Work<Stores> =>
    (stores) =>
      stores.activity.append(HOME, activityAt(id, 0));
  return worker("activity", (stores) => stores.activity.page(HOME, {}, 100, 0), {
    first: step("a1"),
    second: step("a2"),
    third: step("a3"),
  });
}

/** Batches that are stored at the same time as another executor's, and one that is sent again. */
function audit(executor: string): Worker<Stores> {
  const batchOf = (batch: number, size: number) =>
    Array.from({ length: size }, (_, i) => {
      const id = `${executor}-${batch}-${i}`;
      return auditEventOf({ id, organization_id: HOME, executor, command: `run ${id}` });
    });
  const see = async (stores: Stores) => {
    const found = await page(stores.audit, { executor }, 1_000, 0, HOME);
    const newest = found.events[0]?.id ?? "none";
    const [byId] = await stores.audit.withId(HOME, newest);
    return { ...found, byId: byId && JSON.parse(String(byId)) };
  };
  const send = (batch: number, size: number): Work<Stores> => {
    const events = batchOf(batch, size);
    return (stores) => append(stores.audit, events, HOME);
  };
  return worker(`audit of ${executor}`, see, {
    "batch of 3": send(1, 3),
    "a single": send(2, 1),
    "batch of 8": send(3, 8),
    "batch of 8 again": send(3, 8),
    "another single": send(4, 1),
    "batch of 5": send(5, 5),
  });
}

function runtimes<S>(prefix: string, fleetOf: (stores: S) => FleetStore): Worker<S> {
  const send =
    (name: string, version: string): Work<S> =>
    (stores) =>
      report(fleetOf(stores), HOME, { name: prefix + name, version }, T0);
  const see = async (stores: S) => {
    const rows = await all(fleetOf(stores), HOME);
    const own = rows.filter(({ name }) => name.startsWith(prefix));
    return own.sort((a, b) => (a.name < b.name ? -1 : 1));
  };
  return worker(`runtimes ${prefix}`, see, {
    "new r1": send("r1", "1"),
    "new r2": send("r2", "1"),
    "known r1": { lazily: send("r1", "2") },
    "forget r2": (stores) => fleetOf(stores).forget(HOME, `${prefix}r2`),
    "new r3": send("r3", "1"),
    "known r3": { lazily: send("r3", "2") },
  });
}

/** Turns the lock of this process into a dead one's, with another boot. */
async function bury(files: ForgetfulFiles): Promise<void> {
  const bytes = await readFileIfAny(files, layout.lock).catch(() => undefined);
  if (bytes === undefined) return;
  const text = bytes.toString("utf8").replace(/"boot":"[^"]*"/, '"boot":"an earlier one"');
  const descriptor = await files.open(layout.lock, "w");
  await files.write(descriptor, Buffer.from(text), 0);
  await files.fsync(descriptor);
  await files.close(descriptor);
}

interface WholeService extends Stores {
  readonly secret: string;
  close(): Promise<void>;
}

/** Every store of the service, and all of them at work at once. */
export const wholeService: Scenario<WholeService> = {
  async open(files) {
    const config = configFromOptions({ dataDir: layout.root });
    const sized = { ...config, auditSegmentBytes: SEGMENT_BYTES };
    const engine = await openFileEngine({ config: sized, now, log: silent }, files);
    const { stores, secret } = engine;
    return { ...stores, secret, close: () => engine.close() };
  },
  close: (stores) => stores.close(),
  bury,
  workers: [
    policies(),
    keys(),
    users(),
    organizations(),
    settings(),
    overrides(),
    rollouts(),
    activity(),
    audit("ada"),
    audit("bob"),
    runtimes("a-", (stores: Stores) => stores.fleet),
  ],
};

/** A fleet whose log is folded into its snapshot again and again. */
export const foldingFleet: Scenario<FileFleet> = {
  async open(files) {
    await makeRootDirectory(files, layout.root);
    const damage = new DamageRegister(files, silent);
    const parts = { files, layout, now, log: silent, damage, minLogBytes: FOLD_AT };
    return FileFleet.open(parts, [HOME]);
  },
  close: (fleet) => fleet.close(),
  bury: async () => {},
  workers: [runtimes("a-", (fleet: FileFleet) => fleet), runtimes("b-", (fleet) => fleet)],
};

type AuditStep = Step<FileAuditStore>;

function auditOf(durability: Durability, steps: readonly AuditStep[]): Scenario<FileAuditStore> {
  const see = async (store: FileAuditStore) => {
    const { events, total } = await page(store, {}, 1_000, 0, HOME);
    return { ids: events.map(({ id }) => id), total };
  };
  return {
    async open(files) {
      await makeRootDirectory(files, layout.root);
      // Every append has a segment of its own.
      return new FileAuditStore({ files, layout, now, log: silent, durability, segmentBytes: 1 });
    },
    close: (store) => store.close(),
    bury: async () => {},
    workers: [{ name: "audit", see, steps }],
  };
}

/** Stores `size` events that arrive a number of seconds after the start. */
function arriving(seconds: number, size: number): AuditStep["run"] {
  const ingested_at = new Date(T0 + seconds * SECOND_MS).toISOString();
  const events = Array.from({ length: size }, (_, i) =>
    auditEventOf({ id: `at-${seconds}-${i}`, organization_id: HOME, ingested_at }),
  );
  return (store) => append(store, events, HOME);
}

/** Removes the events that arrived earlier. */
function retaining(seconds: number): AuditStep["run"] {
  return (store) => store.retain(HOME, T0 + seconds * SECOND_MS);
}

/** An audit log whose segments pass retention one by one. */
export const expiringAudit = auditOf("sync", [
  { name: "batch of 3", run: arriving(0, 3) },
  { name: "a single", run: arriving(1, 1) },
  { name: "remove the batch", run: retaining(1) },
  { name: "batch of 2", run: arriving(2, 2) },
  { name: "remove the single", run: retaining(2) },
  { name: "another single", run: arriving(3, 1) },
  { name: "remove the second batch", run: retaining(3) },
  { name: "remove nothing", run: retaining(3) },
]);

/** An activity log whose files pass retention one by one, beside enough newer entries. */
export const expiringActivity: Scenario<FileActivity> = {
  async open(files) {
    await makeRootDirectory(files, layout.root);
    return new FileActivity({ files, layout, now, log: silent, fileBytes: 1, keptEntries: 1 });
  },
  close: (store) => store.close(),
  bury: async () => {},
  workers: [
    {
      name: "activity",
      see: (store) => store.page(HOME, {}, 100, 0),
      steps: [
        { name: "first", run: (store) => store.append(HOME, activityAt("a1", 0)) },
        { name: "second", run: (store) => store.append(HOME, activityAt("a2", 1)) },
        { name: "remove nothing", run: (store) => store.retain(T0) },
        { name: "remove the first", run: (store) => store.retain(T0 + SECOND_MS) },
        { name: "third", run: (store) => store.append(HOME, activityAt("a3", 2)) },
        { name: "remove the second", run: (store) => store.retain(T0 + 9 * SECOND_MS) },
      ],
    },
  ],
};

/** An audit log that answers after the write; earlier segments are synced. */
export const writtenAudit = auditOf(
  "write",
  [3, 1, 4, 1, 5].map((size, at) => ({
    name: `${size} events`,
    run: arriving(at, size),
    isLazy: "until the next",
  })),
);
