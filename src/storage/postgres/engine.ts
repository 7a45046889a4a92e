/** The PostgreSQL engine: any number of servers over one database. */
import { type CloseStack, openParts } from "../../core/close-stack.ts";
import { createIds } from "../../core/ids.ts";
import type { Engine, EngineFigures, EngineParts, Stores } from "../../engine.ts";
import { signedLogsOf } from "../../signed-logs/answers.ts";
import { openSigningParts } from "../../signed-logs/signing-parts.ts";
import type { SignedLogs } from "../../signed-logs/store.ts";
import { activityOver, ActivityWriter } from "./activity.ts";
import { PostgresAudit } from "./audit.ts";
import { numberFrom, type Database } from "./database.ts";
import { catalogCopy, prepareDemo, sharedSecret } from "./deployment.ts";
import { fleetOver, fleetTotals } from "./fleet.ts";
import { FleetReports } from "./fleet-reports.ts";
import { healthOf } from "./health.ts";
import { KeyUses, keysOver } from "./keys.ts";
import { withLease } from "./leases.ts";
import { openMove } from "./move.ts";
import { createDefaultOrganization, organizationsOver } from "./organizations.ts";
import { KnownPolicies } from "./known-policies.ts";
import { policiesOver } from "./policies.ts";
import { readLogKey, sharedLogKey } from "./proof/log-key.ts";
import type { Removing } from "./proof/removing.ts";
import { LogSigner } from "./proof/signer.ts";
import { storedTreesOf } from "./proof/stored-trees.ts";
import { overridesOver } from "./providers.ts";
import { plainSession, unitOfWork, type Session } from "./session.ts";
import { KnownRollouts, rolloutsOver } from "./rollouts.ts";
import { settingsOver } from "./settings.ts";
import { sharedThrottle, ticketRecords } from "./sign-ins.ts";
import { openDatabase } from "./start.ts";
import { usersOver } from "./users.ts";

/** The time after which the work of a server that died is taken over. */
const LEASE_MS = 30_000;

/**
 * Connects to the database of a deployment, brings its tables up to date, and opens every store.
 *
 * @throws Error when the database cannot be used
 */
export async function openPostgresEngine(parts: EngineParts): Promise<Engine> {
  return openParts(async (opened) => {
    const database = opened.keep(await openDatabase(parts));
    const move = await openMove(database, parts.isMove === true);
    const demo = await prepareDemo(database, parts);
    await createDefaultOrganization(database, parts.now());
    const secret = await sharedSecret(database);
    const { stores, storesOver, figures, signer, proofs } = await openStores(
      database,
      parts,
      opened,
    );
    return {
      stores,
      commit: unitOfWork(database, storesOver),
      secret,
      catalogCopy: catalogCopy(database),
      ...(demo && { demo }),
      shared: {
        exclusively: (name, work) => withLease(database, name, { forMs: LEASE_MS }, work),
        throttle: sharedThrottle(database, parts.now),
        tickets: ticketRecords(database),
      },
      ...(proofs && { proofs }),
      move,
      health: healthOf(database, signer),
      figures,
    };
  });
}

async function openStores(
  database: Database,
  { config, log, now, isMove }: EngineParts,
  opened: CloseStack,
) {
  let signer: LogSigner | undefined;
  let proofs: SignedLogs | undefined;
  const removing: Removing = async (named, leaving) =>
    signer?.sign(named, undefined, { leaving }) ?? true;
  const uses = opened.keep(new KeyUses(database, log));
  const reports = new FleetReports(database);
  const known = new KnownPolicies();
  const knownRollouts = new KnownRollouts();
  const entries = opened.keep(new ActivityWriter(database, config.maxActivityBytes, removing));
  const { auditDurability: durability } = config;
  const audit = opened.keep(
    new PostgresAudit({ database, now, log, durability, isMove, removing }),
  );
  const storesOver = (session: Session) => ({
    organizations: organizationsOver(session),
    users: usersOver(session),
    keys: keysOver(session, uses),
    settings: settingsOver(session),
    overrides: overridesOver(session),
    policies: policiesOver(session, known),
    rollouts: rolloutsOver(session, knownRollouts),
    fleet: fleetOver(database, session, reports, log),
    activity: activityOver(database, session, entries, log),
    audit,
  });
  const stores = storesOver(plainSession(database));
  opened.add(() => reports.idle());
  if (config.checkpointSeconds > 0) {
    const signing = await openSigningParts(config, {
      ...{ now, log },
      key: { read: () => readLogKey(database), readOrCreate: () => sharedLogKey(database) },
      keep: async (named, note) => signer?.keep(named, note),
      proofs: () => proofs,
    });
    signer = opened.keep(
      await LogSigner.open({ ...{ database, now, log, ids: createIds(now) }, ...signing }),
    );
    proofs = signedLogsOf(storedTreesOf(database, signer));
  }
  let counted: Omit<EngineFigures, "audit"> = { organizations: 0, fleet: { online: 0, total: 0 } };
  const count = async (): Promise<typeof counted> => {
    const organizations = await numberFrom(database, "SELECT count(*) AS n FROM organizations");
    const signing = await signer?.figures();
    const fleet = await fleetTotals(database, now());
    return { organizations, fleet, ...(signing && { signing }) };
  };
  const figures: Engine["figures"] = async () => {
    // While the database cannot be reached, the metrics report that, and the last counts.
    counted = await count().catch(() => counted);
    return { ...counted, audit: audit.figures };
  };
  return { stores: stores satisfies Stores, storesOver, figures, signer, proofs };
}
