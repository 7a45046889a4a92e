/** The servers of one world: starts them over their data, prepares and checks them, and restarts them. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import {
  absenceOf,
  NAMED,
  startContestant,
  type ContestantName,
  type Setup,
} from "./contestants.ts";
import { ask, load, type Slice } from "./load.ts";
import type { Started } from "./processes.ts";
import { policyText, registration, type Scenario, type World } from "./scenarios.ts";

const REGISTRATIONS_AT_ONCE = 128;

/** Several servers with the same data. */
export class Arena {
  readonly #world: World;
  readonly #setups = new Map<ContestantName, Setup>();
  readonly #servers = new Map<ContestantName, Started>();

  /**
   * @param history a generated data directory; required by a world with events
   */
  constructor(
    world: World,
    names: readonly ContestantName[],
    directory: string,
    history: string | undefined,
  ) {
    this.#world = world;
    for (const name of names) {
      const own = join(directory, name.replaceAll(/\W+/g, "-"));
      // A database that runs as another user must be able to pass through.
      mkdirSync(own, { recursive: true, mode: 0o711 });
      this.#setups.set(name, { directory: own, history });
    }
  }

  /** Starts every server that is not running. */
  async start(): Promise<void> {
    for (const [name, setup] of this.#setups) {
      if (this.#servers.has(name)) continue;
      const server = await startContestant(name, setup);
      this.#servers.set(name, server);
      if (name !== "floor") await this.#prepare(server);
    }
  }

  async stop(): Promise<void> {
    for (const server of this.#servers.values()) await server.stop();
    this.#servers.clear();
  }

  /**
   * Sends one request to every contestant of a scenario, and gives the floor the bytes that it will
   * answer with.
   *
   * @returns for each contestant the time of its answer, and the `ETag` for revalidation
   * @throws Error if an answer is wrong, or two answers differ that must not
   */
  async check(scenario: Scenario): Promise<ReadonlyMap<ContestantName, Checked>> {
    const checked = new Map<ContestantName, Checked>();
    let agreed: string | undefined;
    for (const name of scenario.contestants) {
      const server = this.#servers.get(name);
      if (server === undefined) continue;
      const etag = scenario.revalidates ? (await ask(scenario, server)).etag : undefined;
      const sent = scenario.revalidates ? (etag ?? '"floor"') : undefined;
      if (name === "floor") await this.#prepareFloor(scenario, server);
      const { status, text, ms } = await ask(scenario, server, sent);
      const body = text === "" ? {} : (JSON.parse(text) as Readonly<Record<string, unknown>>);
      if (status !== scenario.status || !scenario.isRight(body)) {
        throw new Error(
          `${scenario.name}: the answer of ${name} is wrong: ${status}, ${text.slice(0, 300)}`,
        );
      }
      const shared = JSON.stringify(scenario.agreesOn?.(body));
      agreed ??= shared;
      if (shared !== agreed) throw new Error(`${scenario.name}: ${name} answers something else`);
      checked.set(name, { ms, etag: sent });
    }
    return checked;
  }

  /** Loads one server. */
  load(
    scenario: Scenario,
    name: ContestantName,
    seconds: number,
    { ms, etag }: Checked,
  ): Promise<Slice> {
    const server = this.#servers.get(name);
    if (server === undefined) throw new Error(`${name} is not running`);
    return load(scenario, server, seconds, ms, etag);
  }

  /** The floor has no data: it repeats the answer of the contestant in question. */
  async #prepareFloor(scenario: Scenario, floor: Started): Promise<void> {
    const [first = "signalbox"] = scenario.contestants;
    const model = this.#servers.get(first);
    if (scenario.method !== "GET" || model === undefined) return;
    const { text } = await ask(scenario, model);
    await fetch(floor.url + scenario.path, { method: "PUT", body: text });
  }

  async #prepare({ url }: Started): Promise<void> {
    const { policy, rollout, runtimes } = this.#world;
    if (policy && (await fetch(`${url}/api/public/policies?active=true`)).status === 404) {
      await post(`${url}/api/public/policies`, { yaml: policyText, version: "bench" });
    }
    if (rollout) await beginRollout(url);
    for (let i = 0; i < runtimes; i += REGISTRATIONS_AT_ONCE) {
      const numbers = Array.from(
        { length: Math.min(REGISTRATIONS_AT_ONCE, runtimes - i) },
        (_, n) => i + n,
      );
      await Promise.all(
        numbers.map((number) => post(`${url}/api/public/fleet/heartbeat`, registration(number))),
      );
    }
  }
}

/** The result of checking a contestant. */
export interface Checked {
  readonly ms: number;
  readonly etag: string | undefined;
}

/** Divides the contestants of some scenarios into those that can take part, and the reasons why others cannot. */
export function partition(names: Iterable<ContestantName>): {
  readonly present: readonly ContestantName[];
  readonly absent: ReadonlyMap<ContestantName, string>;
} {
  const present: ContestantName[] = [];
  const absent = new Map<ContestantName, string>();
  for (const name of new Set(names)) {
    const reason = absenceOf(name);
    if (reason === undefined) present.push(name);
    else absent.set(name, reason);
  }
  return { present, absent };
}

/** Begins a rollout to `NAMED` that looks at a percentage first; an open one stays. */
async function beginRollout(url: string): Promise<void> {
  const api = `${url}/api/public`;
  const { rollouts } = (await (await fetch(`${api}/rollouts`)).json()) as { rollouts: unknown[] };
  if (rollouts.length > 0) return;
  await post(`${api}/policies`, { yaml: policyText, version: "candidate", activate: false });
  const stages = [{ percent: 1 }, { names: [NAMED] }, { percent: 100 }];
  const { id } = await post(`${api}/rollouts`, { version: "candidate", stages });
  await post(`${api}/rollouts/${String(id)}/advance`, {});
}

async function post(url: string, value: unknown): Promise<Readonly<Record<string, unknown>>> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(value),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${text}`);
  return JSON.parse(text) as Readonly<Record<string, unknown>>;
}
