/** The composition root: a service, its socket, and the parts that outlive the service. */
import type { RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import type { Config } from "./config.ts";
import { canonicalAddress } from "./core/address.ts";
import { MINUTE_MS, SECOND_MS, type Clock } from "./core/clock.ts";
import { type CloseStack, openParts } from "./core/close-stack.ts";
import { isLoopback } from "./core/host-name.ts";
import { ConfigError } from "./core/config-error.ts";
import { createIds } from "./core/ids.ts";
import { createLogWriter } from "./core/log-writer.ts";
import { createLog, describeError, type Log } from "./core/log.ts";
import { quoted } from "./core/setting-kinds.ts";
import { clearInterval, setInterval } from "./core/timers.ts";
import { DEMO_LIMITS, demoSettings } from "./demo/limits.ts";
import { createWriteLimit } from "./demo/write-limit.ts";
import { Gate } from "./http/gate.ts";
import { createRequestLog } from "./http/request-log.ts";
import { listen } from "./http/server.ts";
import { Metrics } from "./metrics/metrics.ts";
import { readPortalAssets } from "./portal/server/assets.ts";
import { startWarnings } from "./start-warnings.ts";
import { openService, type OpenService, type ServiceParts, type Substitutes } from "./service.ts";

const RESET_CHECK_MS = 5 * SECOND_MS;

/** A service that listens. */
export interface App {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Opens a data directory and serves it.
 *
 * @param writeLog takes the log's lines; standard error if absent
 * @param substitutes parts that tests replace
 * @throws Error if the directory or the address cannot be used
 */
export async function openApp(
  config: Config,
  now: Clock,
  writeLog?: (line: string) => void,
  substitutes: Substitutes = {},
): Promise<App> {
  // Reading `process.stderr` makes Node open a pipe there as non-blocking. A blocking write holds a thread
  // of the pool, and a process whose log is not read would never end: its exit waits for all threads.
  const standardError = writeLog ? undefined : createLogWriter(process.stderr.fd);
  const write = writeLog ?? standardError?.write ?? (() => {});
  const log = createLog(config.logLevel, now, write, config.named);
  const limited = config.demo ? demoSettings(config) : undefined;
  try {
    return await openParts(async (opened) => {
      opened.add(() => standardError?.flush());
      return { url: await open({ ...config, ...limited }, now, log, opened, substitutes) };
    });
  } catch (error) {
    if (error instanceof Error) error.message = config.named(error.message);
    throw error;
  }
}

/** A service that may be replaced by another. */
interface Served {
  service: OpenService;
}

/** Opens the parts one by one, and adds the closing of each to `opened`. */
async function open(
  config: Config,
  now: Clock,
  log: Log,
  opened: CloseStack,
  substitutes: Substitutes,
): Promise<string> {
  const metrics = config.metrics === "off" ? undefined : new Metrics();
  opened.add(() => metrics?.close());
  const requestLog = createRequestLog(log);
  const summaries = setInterval(() => requestLog.summarize(), MINUTE_MS).unref();
  opened.add(() => clearInterval(summaries));

  const assets = await readPortalAssets();
  if (!assets.hasModules) {
    log.warn("the portal's browser modules are not built: npm run build makes them");
  }
  let url = "";
  let boundTo = "";
  const parts: ServiceParts = {
    ...{ config, now, log, substitutes, metrics, assets },
    onAnswered(summary) {
      metrics?.http.count(summary);
      requestLog.onAnswered(summary);
    },
    requestIds: createIds(now),
    url: () => url,
    boundTo: () => boundTo,
    startedAt: now(),
    admit: config.demo ? createWriteLimit(DEMO_LIMITS.writesPerMinute, now) : undefined,
  };
  const served: Served = { service: await openService(parts) };
  opened.add(() => served.service.close());
  const listener = config.demo ? renewedDaily(served, parts, opened) : served.service.listener;
  const address = { ...config, limits: substitutes.limits };
  const { requestIds, onAnswered } = parts;
  const socket = await listen(listener, address, requestIds, onAnswered).catch((error: unknown) => {
    throw addressFault(error as NodeJS.ErrnoException, config);
  });
  // Steps of their own: the socket closes even if one before it fails, since the next ones release the directory.
  opened.add(() => socket.close());
  opened.add(() => served.service.endStreams());
  opened.add(() => log.info("stopping"));
  boundTo = socket.bound.address;
  url = urlOf(config.host, socket.bound);
  const { version } = served.service.description.build;
  const data = config.databaseUrl === undefined ? config.dataDir : "PostgreSQL";
  log.info("listening", { url, data, version });
  const isOnNetwork = !isLoopback(canonicalAddress(boundTo));
  for (const warning of startWarnings(config, isOnNetwork)) log.warn(warning);
  return url;
}

/** The listener of a demo, whose service is closed, wiped and opened again every day. */
function renewedDaily(served: Served, parts: ServiceParts, opened: CloseStack): RequestListener {
  const { now, log, requestIds, onAnswered } = parts;
  const gate = new Gate(
    {
      ...{ requestIds, onAnswered },
      isDue: () => now() >= (served.service.demo?.nextResetAt ?? Infinity),
      endStreams: () => served.service.endStreams(),
      async renew() {
        log.info("resetting the demo");
        await served.service.close();
        served.service = await openService(parts);
        return served.service.listener;
      },
      onFailure: (error) => log.error("the reset failed", { error: describeError(error) }),
    },
    served.service.listener,
  );
  const timer = setInterval(() => gate.check(), RESET_CHECK_MS).unref();
  opened.add(() => {
    clearInterval(timer);
    return gate.idle();
  });
  return gate.listener;
}

/** Says why an address cannot be used, in terms of the settings that name it. */
function addressFault(error: NodeJS.ErrnoException, { host, port }: Config): Error {
  const { code } = error;
  const shown = quoted(host);
  const told = (
    what: string,
    Kind: new (message: string, options: ErrorOptions) => Error = Error,
  ): Error => new Kind(`${what} (${code})`, { cause: error });
  if (code === "EADDRINUSE") {
    return told(`PORT: ${port} of ${shown} is in use, stop what listens there or choose another`);
  }
  if (code === "EACCES") {
    return told(`PORT: this user may not listen on ${port} of ${shown}, choose another`);
  }
  const isNoAddress = ["EADDRNOTAVAIL", "ENOTFOUND", "EAI_AGAIN"].includes(code ?? "");
  return isNoAddress
    ? told(`HOST: ${shown} is not an address of this machine`, ConfigError)
    : error;
}

/** The URL for clients on this machine; a wildcard address cannot be called. */
function urlOf(host: string, { address, port }: AddressInfo): string {
  if (address === "0.0.0.0" || address === "::") return `http://localhost:${port}`;
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}
