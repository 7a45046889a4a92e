/** The file engine: locks the data directory and opens every store in it. */
import { statfs } from "node:fs/promises";
import { RecordedChanges } from "../../activity/unit-of-work.ts";
import type { CatalogCopy } from "../../catalog/source.ts";
import { SECOND_MS } from "../../core/clock.ts";
import { type CloseStack, openParts } from "../../core/close-stack.ts";
import { createIds } from "../../core/ids.ts";
import { describeError } from "../../core/log.ts";
import { systemStopwatch } from "../../core/timers.ts";
import { nextReset } from "../../demo/limits.ts";
import type { Engine, EngineDemo, EngineFigures, EngineParts, Stores } from "../../engine.ts";
import { signedLogsOf } from "../../signed-logs/answers.ts";
import { contradictionEntry } from "../../signed-logs/contradiction-entry.ts";
import { openSigningParts } from "../../signed-logs/signing-parts.ts";
import type { SignedLogs } from "../../signed-logs/store.ts";
import { stageFiles } from "../backup/staging.ts";
import { DamageRegister } from "../damage.ts";
import { checkFormat, readOrCreateSecret, closeToOthers } from "../data-directory.ts";
import { disownDemo, markSeeded, prepareDemoDirectory } from "../demo-directory.ts";
import { systemFiles, type FileOperations } from "../file-operations.ts";
import { Layout } from "../layout.ts";
import { acquireLock } from "../lock.ts";
import { runChecks } from "../log-checks.ts";
import { measuredFiles } from "../measured-files.ts";
import { refuseOddEntries } from "../odd-entries.ts";
import { ReadFiles } from "../read-files.ts";
import { readFileIfAny, replaceFile } from "../snapshot.ts";
import { removeStrays } from "../strays.ts";
import { FileActivity } from "./activity.ts";
import { FileAuditStore } from "./audit.ts";
import { IndexThreads } from "./audit/sidecar/index-threads.ts";
import { FileFleet } from "./fleet.ts";
import { FileKeys } from "./keys.ts";
import { FileOrganizations } from "./organizations.ts";
import { readLogKey, readOrCreateLogKey } from "./proof/log-key.ts";
import { Notary } from "./proof/notary.ts";
import { storedTreesOf } from "./proof/stored-trees.ts";
import { moveOf, readUnfinishedMove } from "./move.ts";
import { FilePolicies } from "./policies.ts";
import { FileProviderOverrides } from "./providers.ts";
import { FileRollouts } from "./rollouts.ts";
import { FileSettings } from "./settings.ts";

/**
 * The most bytes of logs that are checked for damage before the service listens; the rest is checked in the
 * background.
 */
const CHECKED_BEFORE_BYTES = 128 << 20;

/**
 * Locks a data directory and opens every store in it.
 *
 * @param files the file operations; tests replace them
 * @throws Error if another server has the directory, or a file in it is damaged
 */
export async function openFileEngine(
  parts: EngineParts,
  files: FileOperations = systemFiles,
): Promise<Engine> {
  const layout = new Layout(parts.config.dataDir);
  await refuseOddEntries(files, layout);
  const lock = await acquireLock(files, layout, parts.now);
  return openParts((opened) => {
    opened.add(() => lock.release());
    return openDirectory(parts, files, layout, opened);
  });
}

/** Opens the parts of a locked directory one by one, and adds each to the list of things to close. */
async function openDirectory(
  parts: EngineParts,
  files: FileOperations,
  layout: Layout,
  opened: CloseStack,
): Promise<Omit<Engine, "close">> {
  const { config, now, log } = parts;
  await closeToOthers(files, layout, log);
  await removeStrays(files, layout);
  await checkFormat(files, layout);
  const unfinished = await readUnfinishedMove(files, layout, parts.isMove === true);
  const secret = await readOrCreateSecret(files, layout);
  const demo = await openDemo(parts, files, layout);
  const damage = new DamageRegister(files, log);
  const own = await openStores(parts, files, layout, damage, opened);
  const { audit, fleet, activity, organizations, notary, proofs, ...others } = own;
  const stores = { ...others, organizations, fleet, audit, activity, users: organizations.users };
  const { commit } = opened.keep(new RecordedChanges<Stores>(stores)); // closed first
  return {
    stores,
    commit,
    secret,
    catalogCopy: catalogCopy(files, layout),
    ...(demo && { demo }),
    ...(proofs && { proofs }),
    move: moveOf(files, layout, unfinished, { activity, audit }),
    directory: {
      socketPath: layout.socket,
      stage: () =>
        stageFiles(
          files,
          layout,
          () => new Map([audit, fleet, activity].flatMap(({ committed }) => committed)),
        ),
    },
    health: healthOf(own, damage, parts),
    async figures(): Promise<EngineFigures> {
      const { stored, repeated, failed, pending } = audit.counts;
      const { bavail, bsize } = await statfs(config.dataDir);
      return {
        organizations: organizations.ids().length,
        fleet: fleet.totals(now()),
        audit: { stored, repeated, failed, pending, pendingBytes: audit.held },
        ...(notary && { signing: notary.figures }),
        files: { damagedLines: damage.lines, freeBytes: bavail * bsize },
      };
    },
  };
}

async function openDemo(
  { config, now }: EngineParts,
  files: FileOperations,
  layout: Layout,
): Promise<EngineDemo | undefined> {
  if (!config.demo) {
    await disownDemo(files, layout);
    return undefined;
  }
  const isDue = (seededAt: number): boolean => now() >= nextReset(seededAt);
  return {
    found: await prepareDemoDirectory(files, layout, isDue),
    markSeeded: (seededAt) => markSeeded(files, layout, seededAt),
  };
}

type FileStores = Awaited<ReturnType<typeof openStores>>;

async function openStores(
  { config, now, log, logs }: EngineParts,
  files: FileOperations,
  layout: Layout,
  damage: DamageRegister,
  opened: CloseStack,
) {
  const measured = (name: "audit" | "fleet"): FileOperations =>
    logs ? measuredFiles(files, systemStopwatch, logs[name]) : files;
  const organizations = await FileOrganizations.open(files, layout, now);
  opened.keep(organizations.changes);
  const ids = organizations.ids();
  const reportLateKeys = (error: unknown) =>
    log.error("the last use of API keys could not be written", { error: describeError(error) });
  const keys = opened.keep(await FileKeys.open(files, layout, ids, reportLateKeys));
  const fleet = opened.keep(
    await FileFleet.open({ files: measured("fleet"), layout, now, log, damage }, ids),
  );
  const policies = opened.keep(await FilePolicies.open(files, layout, ids));
  const overrides = await FileProviderOverrides.open(files, layout, ids);
  opened.keep(overrides.changes);
  const rollouts = await FileRollouts.open(files, layout, ids, (id) => policies.activeVersion(id));
  opened.keep(rollouts.changes);
  const { auditDurability: durability, auditSegmentBytes: segmentBytes } = config;
  let notary: Notary | undefined;
  let proofs: SignedLogs | undefined;
  const threads = files === systemFiles ? new IndexThreads() : undefined;
  const audit = opened.keep(
    new FileAuditStore({
      files: measured("audit"),
      layout,
      now,
      log,
      damage,
      durability,
      segmentBytes,
      removing: (organization, leaving) =>
        notary?.beforeRemoval({ organization, log: "audit" }, leaving),
      ...(threads && { threads }),
    }),
  );
  const activity = opened.keep(
    new FileActivity({
      ...{ files, layout, now, log, damage, maxBytes: config.maxActivityBytes },
      removing: (organization, leaving) =>
        notary?.beforeRemoval({ organization, log: "activity" }, leaving),
    }),
  );
  const settings = new FileSettings(files, layout);
  opened.keep(settings.changes);
  await settings.check(ids);
  const checks = [...(await audit.checks(ids)), ...(await activity.checks(ids))];
  const checking = opened.keep(await runChecks(checks, CHECKED_BEFORE_BYTES, log));
  opened.keep({
    async close() {
      const ended = checking.close();
      await threads?.close(); // the current check may wait for them
      await ended;
    },
  });
  if (config.checkpointSeconds > 0) {
    const signing = await openSigningParts(config, {
      ...{ now, log },
      key: {
        read: () => readLogKey(files, layout),
        readOrCreate: () => readOrCreateLogKey(files, layout),
      },
      keep: async (named, note) => notary?.keep(named, note),
      proofs: () => proofs,
    });
    notary = opened.keep(
      new Notary({
        ...{ files, layout, now, log, ...signing },
        writers: [audit, activity],
        contradicted: (found) =>
          activity.append(found.organization, contradictionEntry(found, createIds(now), now())),
      }),
    );
    const reads = opened.keep(new ReadFiles(files));
    proofs = signedLogsOf(storedTreesOf(files, layout, reads, notary, audit));
  }
  const signed = { fleet, audit, activity, notary, proofs };
  return { organizations, keys, settings, overrides, policies, rollouts, ...signed };
}

/** Reports the stores that cannot write, and makes them retry at most once a second. */
function healthOf(
  stores: FileStores,
  damage: DamageRegister,
  { now }: Pick<EngineParts, "now">,
): Engine["health"] {
  const parts = [
    ["audit log", stores.audit],
    ["fleet log", stores.fleet],
    ["activity log", stores.activity],
    ["policies", stores.policies],
    ["organizations and users", stores.organizations.changes],
    ["API keys", stores.keys.changes],
    ["settings", stores.settings.changes],
    ["provider overrides", stores.overrides.changes],
    ["rollouts", stores.rollouts.changes],
  ] as const;
  let triedAt = -Infinity;
  return () => {
    const failing = parts.filter(([, { failure }]) => failure !== undefined);
    const unwritable = failing.map(([name, { failure }]) => `${name}${codeOf(failure)}`);
    // The clock may be set back.
    if (failing.length > 0 && Math.abs(now() - triedAt) >= SECOND_MS) {
      triedAt = now();
      for (const [, store] of failing) store.recover();
    }
    return { unwritable, isDegraded: damage.lines > 0 || stores.notary?.isDegraded === true };
  };
}

/** The system's code of a failure. The message is not used, since it may contain a path. */
function codeOf(failure: unknown): string {
  const code = failure instanceof Error && "code" in failure ? failure.code : undefined;
  return typeof code === "string" ? ` (${code})` : "";
}

function catalogCopy(files: FileOperations, layout: Layout): CatalogCopy {
  return {
    read: async () => (await readFileIfAny(files, layout.catalogCopy))?.toString("utf8"),
    write: (text) => replaceFile(files, layout.catalogCopy, Buffer.from(text, "utf8")),
  };
}
