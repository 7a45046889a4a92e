/** Opens the file engine: the one place that knows which engine keeps what. */
import type { CatalogCopy } from "./catalog/source.ts";
import type { Config } from "./config.ts";
import type { Clock } from "./core/clock.ts";
import { describeError, type Log } from "./core/log.ts";
import { stageFiles } from "./storage/backup/staging.ts";
import { DamageRegister } from "./storage/damage.ts";
import { nextReset } from "./demo/limits.ts";
import { checkFormat, readOrCreateSecret, warnIfOpen } from "./storage/data-directory.ts";
import { disownDemo, markSeeded, prepareDemoDirectory } from "./storage/demo-directory.ts";
import { systemFiles, type FileOperations } from "./storage/file-operations.ts";
import { FileActivity } from "./storage/files/activity.ts";
import { FileAuditStore } from "./storage/files/audit.ts";
import { IndexThreads } from "./storage/files/audit/sidecar/index-threads.ts";
import { FileFleet } from "./storage/files/fleet.ts";
import { FileKeys } from "./storage/files/keys.ts";
import { FileOrganizations } from "./storage/files/organizations.ts";
import { FilePolicies } from "./storage/files/policies.ts";
import { FileProviderOverrides } from "./storage/files/providers.ts";
import { FileSettings } from "./storage/files/settings.ts";
import { Layout } from "./storage/layout.ts";
import { refuseLinks } from "./storage/links.ts";
import { acquireLock } from "./storage/lock.ts";
import { runChecks } from "./storage/log-checks.ts";
import { readFileIfAny, replaceFile } from "./storage/snapshot.ts";
import { removeStrays } from "./storage/strays.ts";

/** How much of the logs is read for damage before the service listens; the rest is read behind it. */
const CHECKED_BEFORE_BYTES = 128 << 20;

/** Gives the file operations for a kind of log, where somebody wants to hear of its writes and syncs. */
export type MeasureFiles = (log: "audit" | "fleet", files: FileOperations) => FileOperations;

/** Every store, and what else is read from the data directory. */
export type Stores = Awaited<ReturnType<typeof openStores>>;

/**
 * Takes the data directory and opens every store in it.
 *
 * @param files what they are kept on; another disk than the system's in tests only
 * @throws Error when another server has the directory, or a file in it is damaged
 */
export async function openStores(
  config: Config,
  now: Clock,
  log: Log,
  measure: MeasureFiles,
  files: FileOperations = systemFiles,
) {
  const layout = new Layout(config.dataDir);
  await refuseLinks(files, layout);
  const lock = await acquireLock(files, layout, now);
  const opened: { close(): Promise<void> }[] = [{ close: () => lock.release() }];
  const keep = <T extends { close(): Promise<void> }>(store: T): T => {
    opened.push(store);
    return store;
  };
  const close = async (): Promise<void> => {
    for (let store = opened.pop(); store; store = opened.pop()) await store.close();
  };
  try {
    await warnIfOpen(files, layout, log);
    await removeStrays(files, layout);
    await checkFormat(files, layout);
    const secret = await readOrCreateSecret(files, layout);
    const demoDirectory = config.demo
      ? await prepareDemoDirectory(files, layout, (seededAt) => now() >= nextReset(seededAt))
      : await disownDemo(files, layout);
    const organizations = keep(await FileOrganizations.open(files, layout, now));
    const ids = organizations.ids();
    const reportLateKeys = (error: unknown) =>
      log.error("the last use of API keys could not be written", { error: describeError(error) });
    const keys = keep(await FileKeys.open(files, layout, ids, reportLateKeys));
    const damage = new DamageRegister(files, log);
    const fleet = keep(
      await FileFleet.open(measure("fleet", files), layout, ids, now, log, undefined, damage),
    );
    const policies = keep(await FilePolicies.open(files, layout, ids));
    const overrides = keep(await FileProviderOverrides.open(files, layout, ids));
    const { auditDurability: durability, auditSegmentBytes: segmentBytes } = config;
    const threads = files === systemFiles ? new IndexThreads() : undefined;
    const audit = keep(
      new FileAuditStore({
        files: measure("audit", files),
        layout,
        now,
        log,
        damage,
        durability,
        segmentBytes,
        ...(threads && { threads }),
      }),
    );
    const activity = keep(
      new FileActivity({ files, layout, now, log, damage, maxBytes: config.maxActivityBytes }),
    );
    const settings = keep(new FileSettings(files, layout));
    await settings.check(ids);
    const checks = [...(await audit.checks(ids)), ...(await activity.checks(ids))];
    const checking = keep(await runChecks(checks, CHECKED_BEFORE_BYTES, log));
    keep({
      async close() {
        const ended = checking.close();
        await threads?.close(); // the check under way may be waiting for them
        await ended;
      },
    });
    return {
      organizations,
      users: organizations.users,
      keys,
      settings,
      overrides,
      policies,
      fleet,
      audit,
      activity,
      /** What cannot be read back of the logs. */
      damage,
      secret,
      /** `undefined` where the service is no demo. */
      demoDirectory: demoDirectory ?? undefined,
      markSeeded: (seededAt: number) => markSeeded(files, layout, seededAt),
      catalogCopy: catalogCopy(files, layout),
      socketPath: layout.socket,
      /** Names the files of this moment, for a backup. */
      stage: () =>
        stageFiles(
          files,
          layout,
          () => new Map([audit, fleet, activity].flatMap(({ committed }) => committed)),
        ),
      /** Writes what is left to write, and frees the directory. */
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function catalogCopy(files: FileOperations, layout: Layout): CatalogCopy {
  return {
    read: async () => (await readFileIfAny(files, layout.catalogCopy))?.toString("utf8"),
    write: (text) => replaceFile(files, layout.catalogCopy, Buffer.from(text, "utf8")),
  };
}
