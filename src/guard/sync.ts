import { rmSync } from "node:fs";
import { arch, hostname, platform } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { jsonOrUndefined } from "../core/json/json.ts";
import { printable } from "../core/printable.ts";
import { quantity } from "../core/quantity.ts";
import { pause } from "../core/timers.ts";
import { isObject } from "../core/validate.ts";
import { examine } from "../policies/examine.ts";
import { GUARD_VERSION } from "../policies/reported-command.ts";
import { Guard, type Machine } from "./machine.ts";
import { readPolicy, writePolicy } from "./policy-file.ts";
import { sendSpool } from "./send.ts";
import { Service, shownAddress, wayOutOf } from "./service.ts";
import { spool } from "./spool.ts";
import { FileLock } from "./file-lock.ts";

const UNITS = new Map([
  ["s", 1_000],
  ["m", 60_000],
  ["h", 3_600_000],
]);
const LOOK_AGAIN_MS = 50;
const LOOKS = 600;
/** The characters that no header can contain. */
const UNSENDABLE = /\p{Cc}/u;

/** Fetches the policy, sends a heartbeat and the spool; repeatedly with `--every`. */
export async function sync(args: readonly string[], machine: Machine): Promise<number> {
  const options = { every: { type: "string" }, quiet: { type: "boolean" } } as const;
  const { every, quiet = false } = parseArgs({ args: [...args], options }).values;
  const pauseMs = every === undefined ? undefined : durationOf(every);
  for (;;) {
    const problems = await syncOnce(machine, quiet);
    for (const problem of problems) machine.error(`signalbox guard sync: ${problem}\n`);
    if (pauseMs === undefined) return problems.length === 0 ? 0 : 1;
    await pause(pauseMs);
  }
}

function durationOf(text: string): number {
  const [, count, unit = ""] = /^(\d+)([smh])$/.exec(text) ?? [];
  const duration = Number(count) * (UNITS.get(unit) ?? NaN);
  if (duration > 0) return duration;
  throw new Error(`--every: expected a time such as 30s or 5m, found "${text}"`);
}

/**
 * Synchronises once; returns the problems. If another process is synchronising, a quiet call returns at once; any other
 * call waits and then synchronises, so that all earlier events are sent when it returns.
 */
export async function syncOnce(machine: Machine, isQuiet = true): Promise<readonly string[]> {
  const guard = new Guard(machine);
  const { settings } = guard;
  if (guard.fault !== undefined) return [guard.fault];
  if (!settings.isEnabled) return ["RUNTIME_PORTAL_ENABLED is false"];
  const path = join(settings.directory, "sync.lock");
  let lock = FileLock.take(path, machine.now());
  for (let looks = 1; lock === undefined; looks++) {
    if (isQuiet) return [];
    if (looks === LOOKS) return ["another synchronisation has not ended for 30 seconds"];
    await pause(LOOK_AGAIN_MS);
    lock = FileLock.take(path, machine.now());
  }
  const own = lock;
  const problems: string[] = [...settings.faults];
  const service = new Service(settings);
  const sendOwn = () => send(guard, service, () => own.renew(machine.now()));
  for (const step of [fetchPolicy, beat, sendOwn]) {
    try {
      const said = await step(guard, service, machine);
      if (!isQuiet) machine.out(`${printable(said)}\n`);
    } catch (error) {
      problems.push(printable((error as Error).message));
    }
  }
  own.release();
  return [...new Set(problems)];
}

async function fetchPolicy(guard: Guard, service: Service, { now }: Machine): Promise<string> {
  const { directory, api, name } = guard.settings;
  const known = readPolicy(directory, api);
  const isKnown = typeof known !== "string" && known.etag !== "" && known.problem === undefined;
  const headers = {
    ...(isKnown && { "If-None-Match": known.etag }),
    ...(!UNSENDABLE.test(name) && {
      "X-Runtime-Name": Buffer.from(name, "utf8").toString("latin1"),
    }),
  };
  const response = await service.get("/policies?active=true", headers);
  if (response.status === 304 && typeof known !== "string") {
    writePolicy(directory, { ...known, fetchedAt: now() });
    return `policy ${known.version}, unchanged`;
  }
  if (response.status === 404 && saysNoPolicy(response.text)) {
    rmSync(join(directory, "policy.json"), { force: true });
    throw new Error("no policy is active in the service: publish one");
  }
  if (response.status !== 200) throw refused(response.status, "policies", guard);
  const policy = policyOf(response.text);
  if (policy === undefined) throw new Error(`${shownAddress(api)} answers, but not with a policy`);
  const { document, problems } = examine({ yaml: policy.yaml, command: undefined });
  const problem = problems[0]?.message;
  writePolicy(directory, {
    api,
    organization: policy.organization_id,
    version: policy.version,
    etag: response.headers.etag ?? "",
    fetchedAt: now(),
    // A document with failing tests was checked by a service of another version. Without any, commands would run.
    ...(document && { document }),
    // The process that fetches it first mostly has no output. So it is fetched again, and named, until it is mended.
    ...(problem !== undefined && { problem }),
  });
  const called = `policy ${policy.version}`;
  if (!document) throw new Error(`${called} is not a valid document of signalbox/policy/v1`);
  if (problem === undefined) return called;
  throw new Error(inUseWith(policy.version, problem));
}

/** Says that a policy decides although this guard has found a fault in it. */
export function inUseWith(version: string, problem: string): string {
  return `policy ${version} is in use, but this version of the guard finds: ${problem}`;
}

type FetchedPolicy = Readonly<Record<"version" | "organization_id" | "yaml", string>>;

/** The policy in an answer; `undefined` for the answer of another program, such as a page to sign in. */
function policyOf(text: string): FetchedPolicy | undefined {
  const value = jsonOrUndefined(text);
  if (!isObject(value)) return undefined;
  const { version, organization_id, yaml } = value;
  const areTexts = [version, organization_id, yaml].every((one) => typeof one === "string");
  return areTexts ? (value as unknown as FetchedPolicy) : undefined;
}

/**
 * Whether a 404 is the service's own. That of a proxy, whose service is away, must not remove the policy: without one,
 * commands run.
 */
export function saysNoPolicy(text: string): boolean {
  return text.includes(`"No policy is active"`);
}

/**
 * Sends a heartbeat; returns what was sent.
 *
 * @throws Error if the service cannot be reached or refuses it, with the way out
 */
export async function beat(guard: Guard, service: Service): Promise<string> {
  const { settings, version } = guard;
  const policy = readPolicy(settings.directory, settings.api);
  const { status } = await service.post("/fleet/heartbeat", {
    name: settings.name,
    hostname: hostname(),
    os: `${platform()}/${arch()}`,
    version: GUARD_VERSION + version,
    ...(typeof policy === "string" ? {} : { policy_version: policy.version }),
    ...(settings.labels && { labels: settings.labels }),
  });
  if (status !== 200) throw refused(status, "the heartbeat", guard);
  return `heartbeat of ${settings.name}`;
}

async function send(guard: Guard, service: Service, renew: () => void): Promise<string> {
  const { directory } = guard.settings;
  const { sent, dropped, failure } = await sendSpool(directory, service, renew);
  if (dropped > 0) {
    const message = `${quantity(dropped, "event")} could not be sent: damaged, or refused by the service`;
    const note = guard.note(message);
    spool(directory, note, () => note);
  }
  if (failure !== undefined) throw failure;
  return `sent ${quantity(sent, "event")}`;
}

function refused(status: number, what: string, { settings }: Guard): Error {
  return new Error(`the service answered ${status} to ${what}${wayOutOf(status, settings)}`);
}
