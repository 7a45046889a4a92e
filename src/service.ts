/** The service behind its socket: opens the stores and the catalog, and connects the routes to them. */
import type { RequestListener } from "node:http";
import { recordingRows } from "./activity/recording.ts";
import { AuditStreams } from "./audit/stream.ts";
import { EventRedaction } from "./audit/redaction/event-redaction.ts";
import { TICKET_DEMAND } from "./audit/export-routes.ts";
import { SharedTickets, type AcceptCredentials } from "./audit/shared-tickets.ts";
import { ExportTickets } from "./audit/tickets.ts";
import { createCallerResolver, type CallerResolver } from "./auth/caller.ts";
import { createPasswords, type Passwords } from "./auth/password.ts";
import { createLoginThrottle } from "./auth/throttle.ts";
import { createTokenIssuer } from "./auth/tokens.ts";
import { readBuildInfo } from "./build-info.ts";
import { openCatalog, readShippedCatalog } from "./catalog/source.ts";
import type { Config } from "./config.ts";
import { listenForCommands } from "./control/server.ts";
import { DEFAULT_ORGANIZATION, isAccepted } from "./core/caller.ts";
import type { Clock } from "./core/clock.ts";
import { type CloseStack, openParts } from "./core/close-stack.ts";
import { hourly } from "./core/hourly.ts";
import { createIds, type IdSource } from "./core/ids.ts";
import type { Log } from "./core/log.ts";
import { createQuotas } from "./core/quota.ts";
import { systemStopwatch } from "./core/timers.ts";
import type { Demo } from "./demo/demo.ts";
import type { CountWrite } from "./demo/write-limit.ts";
import type { EngineDemo, OpenEngine, Stores } from "./engine.ts";
import { BodyBudget } from "./http/bodies/body-budget.ts";
import { originRule } from "./http/cors.ts";
import { hostRule } from "./http/host-rule.ts";
import { createListener } from "./http/listener.ts";
import type { RequestSummary } from "./http/request-summary.ts";
import { Router } from "./http/router.ts";
import type { Address } from "./http/server.ts";
import { UnreadAnswers } from "./http/unread-answers.ts";
import { servedSurfaces, type ServiceDescription } from "./metadata/service.ts";
import type { Gauges, Metrics } from "./metrics/metrics.ts";
import { VersionWaiters } from "./policies/waiting.ts";
import type { PortalAssets } from "./portal/server/assets.ts";
import { missingPage } from "./portal/server/missing-page.ts";
import { createPortalPages } from "./portal/server/routes.ts";
import { RolloutRunner } from "./rollouts/runner.ts";
import { RolloutAssignments } from "./rollouts/assignments.ts";
import { removeOld } from "./retention.ts";
import { routes, type Services } from "./routes.ts";
import {
  BODIES_IN_FLIGHT_BYTES,
  BODIES_IN_WORK_BYTES,
  turnsOfAnswers,
  turnsOfWork,
  UNREAD_ANSWERS_BYTES,
} from "./shared-limits.ts";
import { openEngine } from "./open-engine.ts";
import { ensureFirstAdmin } from "./users/first-admin.ts";

/** Parts of a service that tests replace. */
export interface Substitutes {
  /** Opens the storage engine; by default the one that the settings choose. */
  readonly openEngine?: OpenEngine;
  /** By default, hashes at their full cost. */
  readonly passwords?: Passwords;
  /** Limits of requests before they reach the listener. */
  readonly limits?: Address["limits"];
}

/** The parts that a service is opened with; they outlive its replacement. */
export interface ServiceParts {
  readonly config: Config;
  readonly now: Clock;
  readonly log: Log;
  readonly substitutes: Substitutes;
  readonly metrics: Metrics | undefined;
  /** Counts and logs an answered request. */
  readonly onAnswered: (summary: RequestSummary) => void;
  readonly requestIds: IdSource;
  /** The public URL; known once the service listens. */
  readonly url: () => string;
  /** The IP address of the listening socket; known once it listens. */
  readonly boundTo: () => string;
  readonly startedAt: number;
  readonly assets: PortalAssets;
  /** Counts writes, in a demo. */
  readonly admit: CountWrite | undefined;
}

/** An open service without a socket. */
export interface OpenService {
  readonly listener: RequestListener;
  readonly description: ServiceDescription;
  readonly demo: Demo | undefined;
  /** Ends the streams, which do not end by themselves, and answers the requests that wait. */
  endStreams(): void;
  /** Completes all writes, and releases the directory; once. */
  close(): Promise<void>;
}

/**
 * Opens the data directory of a service.
 *
 * @throws Error if the directory cannot be used, or there is no catalog
 */
export async function openService(parts: ServiceParts): Promise<OpenService> {
  return openParts((opened) => open(parts, opened));
}

/** Opens the parts one by one, and adds the closing of each to `opened`. */
async function open(parts: ServiceParts, opened: CloseStack): Promise<Omit<OpenService, "close">> {
  const { config, now, log, metrics, substitutes } = parts;
  const engineParts = { config, now, log, logs: metrics?.logs };
  const engine = await (substitutes.openEngine ?? openEngine)(engineParts);
  opened.add(() => engine.close());
  const { stores } = engine;
  const catalog = await openCatalog(config.catalogSource, engine.catalogCopy, log);
  opened.add(() => catalog.close());

  const secret = config.jwtSecret ?? engine.secret;
  const ids = createIds(now);
  const passwords = substitutes.passwords ?? createPasswords({ now });
  await createAdmin(config, { users: stores.users, passwords, now, ids }, log);
  const assignments = new RolloutAssignments(stores);
  const demo = engine.demo && (await openDemoOver(stores, assignments, engine.demo, now, log));
  opened.add(() => demo?.close());

  const description: ServiceDescription = {
    rows: routes,
    build: readBuildInfo(),
    startedAt: parts.startedAt,
    now,
    baseUrl: () => config.baseUrl ?? parts.url(),
    environment: config.environment,
    edition: config.edition,
    requireAuth: config.requireAuth,
    roles: config.roles,
    publicSurface: config.publicSurface,
    catalog: () => ({ ...catalog.current().envelope }),
    engineHealth: () => engine.health(),
    demo: demo && { nextResetAt: demo.nextResetAt },
  };
  const { assets } = parts;
  const quotas = createQuotas(config, config.requireAuth);
  const auditStreams = new AuditStreams();
  const redaction = new EventRedaction(
    config.auditRedaction === "on",
    (organization) => stores.settings.list(organization),
    now,
  );
  const bodyBudget = new BodyBudget(BODIES_IN_FLIGHT_BYTES, BODIES_IN_WORK_BYTES);
  const gauges: Gauges = {
    ...description,
    engine: () => engine.figures(),
    quotas: () => quotas.all,
    bodyBytesHeld: () => bodyBudget.held,
    auditStreams: () => auditStreams.size,
    waitingFetches: () => versionWaiters.size,
    redactions: () => redaction.counts,
  };
  const resolveCaller = createCallerResolver({
    ...stores,
    requireAuth: config.requireAuth,
    roles: config.roles,
    secret,
    now,
  });
  const { shared } = engine;
  const versionWaiters = new VersionWaiters(assignments, now, config.maxConnections);
  const shown = { ...stores, assignments, proofs: engine.proofs };
  const services: Services = {
    ...shown,
    versionWaiters,
    auditStreams,
    redaction,
    exportTickets: shared
      ? new SharedTickets(shared.tickets, acceptTickets(resolveCaller), now)
      : new ExportTickets(now),
    ...turnsOfWork(),
    config,
    maxBatchEvents: config.maxBatchEvents,
    quotas,
    catalog,
    passwords,
    throttle: shared?.throttle ?? createLoginThrottle(now),
    tokens: createTokenIssuer(secret, config.jwtExpiryHours, now),
    description,
    metrics: metrics && {
      token: config.metrics === "open" ? undefined : config.metrics,
      text: () => metrics.text(gauges),
    },
    assets,
    portal: createPortalPages({ ...shown, config, catalog, description, assets }),
    now,
    ids,
  };
  const { directory } = engine;
  if (directory !== undefined) {
    opened.add(
      await listenForCommands({
        commit: engine.commit,
        ...stores,
        passwords,
        now,
        ids,
        directory,
        log,
      }),
    );
  }
  opened.add(hourly(() => removeOld(parts, stores)));
  opened.keep(
    new RolloutRunner({
      ...{ stores, assignments, now, ids, log, commit: engine.commit },
      exclusively: shared?.exclusively ?? ((_, work) => work()),
    }),
  );
  const listener = createListener({
    router: new Router(
      recordingRows(routes, { commit: engine.commit, activity: stores.activity, now, ids }),
      servedSurfaces(config.publicSurface),
    ),
    services,
    resolveCaller,
    now,
    isAllowedOrigin: originRule(config.corsOrigins, config.corsPagesDev),
    isAllowedHost: hostRule(config, parts.boundTo),
    requestIds: parts.requestIds,
    maxBodyBytes: config.maxBodyBytes,
    bodyBudget,
    unreadAnswers: new UnreadAnswers(UNREAD_ANSWERS_BYTES),
    turns: turnsOfAnswers(),
    trustedProxies: config.trustProxy,
    stopwatch: metrics || log.enabled("debug") ? systemStopwatch : undefined,
    admit: parts.admit,
    missingPage: (request) => missingPage({ description, assets }, request),
    onAnswered: parts.onAnswered,
  });
  const endStreams = (): void => {
    auditStreams.close();
    versionWaiters.close();
  };
  return { listener, description, demo, endStreams };
}

/** Checks the credentials of a ticket that another server may have made. */
function acceptTickets(resolveCaller: CallerResolver): AcceptCredentials {
  return (credentials, surface, organization) =>
    isAccepted(() => resolveCaller(TICKET_DEMAND, surface, credentials), organization);
}

async function openDemoOver(
  stores: Stores,
  assignments: RolloutAssignments,
  state: EngineDemo,
  now: Clock,
  log: Log,
): Promise<Demo> {
  const { openDemo } = await import("./demo/demo.ts"); // it reads the files of the example company
  const { capabilities } = await readShippedCatalog();
  const parts = { organization: DEFAULT_ORGANIZATION, stores, assignments, state, capabilities };
  return openDemo({ ...parts, now, log });
}

async function createAdmin(
  { adminEmail: email, adminPassword: password }: Config,
  services: Parameters<typeof ensureFirstAdmin>[1],
  log: Log,
): Promise<void> {
  if (email !== undefined && password !== undefined) {
    if (await ensureFirstAdmin({ email, password }, services)) log.info("created the first admin");
  } else if ((await services.users.list(DEFAULT_ORGANIZATION)).length === 0) {
    log.info("there is no user yet: set ADMIN_EMAIL and ADMIN_PASSWORD to create an admin");
  }
}
