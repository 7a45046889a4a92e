/** The composition root: opens the stores, hands them to the routes, and listens. */
import { recordingRows } from "./activity/recording.ts";
import { startRetention } from "./audit/retention.ts";
import { AuditStreams } from "./audit/stream.ts";
import { ExportTickets } from "./audit/tickets.ts";
import { createCallerResolver } from "./auth/caller.ts";
import { createPasswords } from "./auth/password.ts";
import { createLoginThrottle } from "./auth/throttle.ts";
import { createTokenIssuer } from "./auth/tokens.ts";
import { readBuildInfo } from "./build-info.ts";
import { openCatalog } from "./catalog/source.ts";
import type { Config } from "./config.ts";
import { DEFAULT_ORGANIZATION } from "./core/caller.ts";
import { MINUTE_MS, type Clock } from "./core/clock.ts";
import { createIds } from "./core/ids.ts";
import { createLogWriter } from "./core/log-writer.ts";
import { createLog, type Log } from "./core/log.ts";
import { BodyBudget } from "./http/body-budget.ts";
import { originRule } from "./http/cors.ts";
import { createListener } from "./http/listener.ts";
import { createRequestLog } from "./http/request-log.ts";
import { Router } from "./http/router.ts";
import { listen } from "./http/server.ts";
import {
  conditionOf,
  createMetrics,
  fileMeasures,
  metricsSource,
  systemStopwatch,
} from "./instruments.ts";
import { servedSurfaces, type ServiceDescription } from "./metadata/service.ts";
import { readPortalAssets } from "./portal/assets.ts";
import { createPortalPages } from "./portal/routes.ts";
import { routes, type Services } from "./routes.ts";
import type { FileOperations } from "./storage/file-operations.ts";
import { openStores } from "./stores.ts";
import { ensureFirstAdmin } from "./users/first-admin.ts";

const BODIES_IN_FLIGHT_BYTES = 64 << 20;
const SHORTEST_SECRET_BYTES = 32; // RFC 7518 §3.2: a key as long as the hash
const SHORTEST_TOKEN = 16; // `METRICS=on` is one too, and hardly meant as such
const STANDARD_ERROR = 2;

/** A service that listens. */
export interface App {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Opens a data directory and serves it.
 *
 * @param writeLog takes the log's lines; standard error when absent
 * @param files the disk; another one than the system's in tests only
 * @throws Error when the directory cannot be used or the address cannot be had
 */
export async function openApp(
  config: Config,
  now: Clock,
  writeLog?: (line: string) => void,
  files?: FileOperations,
): Promise<App> {
  const standardError = writeLog ? undefined : createLogWriter(STANDARD_ERROR);
  const log = createLog(config.logLevel, now, writeLog ?? standardError?.write ?? (() => {}));
  const opened: (() => unknown)[] = [() => standardError?.flush()];
  const close = async (): Promise<void> => {
    for (let undo = opened.pop(); undo; undo = opened.pop()) await undo();
  };
  try {
    const url = await open(config, now, log, opened, files);
    let closing: Promise<void> | undefined;
    return { url, close: () => (closing ??= close()) };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Opens part after part, and leaves with each how it is closed again. */
async function open(
  config: Config,
  now: Clock,
  log: Log,
  opened: (() => unknown)[],
  files: FileOperations | undefined,
): Promise<string> {
  const metrics = createMetrics(config);
  opened.push(() => metrics?.close());
  const stores = await openStores(config, now, log, fileMeasures(metrics), files);
  opened.push(() => stores.close());
  const catalog = await openCatalog(config.catalogSource, stores.catalogCopy, log);
  opened.push(() => catalog.close());

  const assets = await readPortalAssets();
  if (!assets.hasModules) {
    log.warn("the portal's browser modules are not built: npm run build makes them");
  }

  const secret = config.jwtSecret ?? stores.secret;
  const ids = createIds(now);
  const passwords = createPasswords();
  await createAdmin(config, { users: stores.users, passwords, now, ids }, log);
  warnOfOpenDoors(config, secret, log);

  let url = "";
  const condition = conditionOf(stores, now);
  const description: ServiceDescription = {
    rows: routes,
    build: readBuildInfo(),
    startedAt: now(),
    now,
    baseUrl: () => config.baseUrl ?? url,
    environment: config.environment,
    edition: config.edition,
    requireAuth: config.requireAuth,
    publicSurface: config.publicSurface,
    catalog: () => ({ ...catalog.current().envelope }),
    condition,
  };
  const auditStreams = new AuditStreams();
  const bodyBudget = new BodyBudget(BODIES_IN_FLIGHT_BYTES);
  const services: Services = {
    ...stores,
    auditStreams,
    exportTickets: new ExportTickets(now),
    config,
    maxBatchEvents: config.maxBatchEvents,
    catalog,
    passwords,
    throttle: createLoginThrottle(now),
    tokens: createTokenIssuer(secret, config.jwtExpiryHours, now),
    description,
    metrics: metricsSource(metrics, config, {
      ...description,
      stores,
      bodyBytesHeld: () => bodyBudget.held,
      auditStreams: () => auditStreams.size,
    }),
    assets,
    portal: createPortalPages({ ...stores, catalog, description, assets }),
    now,
    ids,
  };

  const requestLog = createRequestLog(log);
  const summaries = setInterval(() => requestLog.summarize(), MINUTE_MS).unref();
  opened.push(() => clearInterval(summaries));
  const requestIds = createIds(now);
  const listener = createListener({
    router: new Router(
      recordingRows(routes, { activity: stores.activity, now, ids }),
      servedSurfaces(config.publicSurface),
    ),
    services,
    resolveCaller: createCallerResolver({
      ...stores,
      requireAuth: config.requireAuth,
      secret,
      now,
    }),
    isAllowedOrigin: originRule(config.corsOrigins),
    requestIds,
    maxBodyBytes: config.maxBodyBytes,
    bodyBudget,
    trustedProxies: config.trustProxy,
    stopwatch: metrics || log.enabled("debug") ? systemStopwatch : undefined,
    onAnswered(summary) {
      metrics?.http.count(summary);
      requestLog.onAnswered(summary);
    },
  });
  const { audit } = stores;
  opened.push(startRetention({ audit, days: config.auditRetentionDays, now, log }));
  const socket = await listen(listener, config.host, config.port, requestIds);
  opened.push(() => {
    log.info("stopping");
    auditStreams.close(); // they would never end by themselves
    return socket.close();
  });
  url = urlOf(config.host, socket.port);
  log.info("listening", { url, data: config.dataDir, version: description.build.version });
  return url;
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

function warnOfOpenDoors(config: Config, secret: string, log: Log): void {
  if (Buffer.byteLength(secret) < SHORTEST_SECRET_BYTES) {
    log.warn(`JWT_SECRET is shorter than ${SHORTEST_SECRET_BYTES} bytes, which is easier to guess`);
  }
  if (!["off", "open"].includes(config.metrics) && config.metrics.length < SHORTEST_TOKEN) {
    log.warn(
      `METRICS is a token of fewer than ${SHORTEST_TOKEN} characters, which is easy to guess`,
    );
  }
  if (config.requireAuth() && config.publicSurface === "open") {
    log.warn(
      "REQUIRE_AUTH=true with PUBLIC_SURFACE=open: whoever reaches this port can still replace the " +
        "policy of the default organization through /api/public",
    );
  }
}

/** How a client on this machine reaches the service; a wildcard address is no address to call. */
function urlOf(host: string, port: number): string {
  if (host === "0.0.0.0" || host === "::") return `http://localhost:${port}`;
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}
