import { setTimeout as sleep } from "node:timers/promises";
import type { GeneratedCommand } from "../commands.ts";
import type { Random } from "../../src/demo/random.ts";
import type { Portal } from "./portal.ts";

const HEARTBEAT_MS = 30_000;
const POLL_MS = 60_000;
const COMMAND_MS = 8_000;
/** Commands are collected for this long; a single one is sent as a single event. */
const UPLINK_MS = 10_000;
const MOST_KEPT = 5_000;
const MOST_IN_BATCH = 500;
const FIRST_BACKOFF_MS = 500;
const LONGEST_BACKOFF_MS = 30_000;
const LAST_TRIES = 5;

export interface RuntimeOptions {
  readonly number: number;
  /** Identifies this simulation, and keeps its ids apart from those of others. */
  readonly run: string;
  readonly portal: Portal;
  readonly random: Random;
  readonly nextCommand: () => GeneratedCommand;
  /** The factor by which it lives faster than usual. */
  readonly pace: number;
}

interface QueuedEvent {
  readonly event: Readonly<Record<string, unknown>>;
  attempts: number;
}

/** One runtime: it works on its own, and reports to the service when it can. */
export class Runtime {
  readonly #options: RuntimeOptions;
  readonly #name: string;
  #queue: QueuedEvent[] = [];
  #commands = 0;
  #etag: string | undefined;
  #policyVersion: string | undefined;
  #backoffMs = 0;

  constructor(options: RuntimeOptions) {
    this.#options = options;
    this.#name = `simulated-${options.number}`;
  }

  /** The number of events that were never acknowledged. */
  get unsent(): number {
    return this.#queue.length;
  }

  /** Runs until the signal fires, and then delivers the rest. */
  async live(signal: AbortSignal): Promise<void> {
    const { portal } = this.#options;
    await portal.send("POST", "/runtime/register", this.#description());
    await this.#pollPolicy();
    await Promise.all([
      this.#repeat(HEARTBEAT_MS, signal, () => this.#heartbeat()),
      this.#repeat(POLL_MS, signal, () => this.#pollPolicy()),
      this.#repeat(COMMAND_MS, signal, () => this.#runCommand()),
      this.#repeat(UPLINK_MS, signal, () => this.#uplink()),
    ]);
    await this.#deliverRest();
  }

  /** Repeats an action at intervals that vary by a half around the usual one. */
  async #repeat(ms: number, signal: AbortSignal, act: () => void | Promise<void>): Promise<void> {
    const { random, pace } = this.#options;
    while (!signal.aborted) {
      const pause = ((0.5 + random()) * ms) / pace;
      await sleep(pause, undefined, { signal }).catch(() => undefined);
      if (!signal.aborted) await act();
    }
  }

  async #heartbeat(): Promise<void> {
    const policy_version = this.#policyVersion;
    const beat = {
      ...this.#description(),
      ...(policy_version !== undefined && { policy_version }),
    };
    await this.#options.portal.send("POST", "/fleet/heartbeat", beat);
  }

  async #pollPolicy(): Promise<void> {
    const { portal } = this.#options;
    const headers = {
      "X-Runtime-Client": "signalbox-simulate",
      ...(this.#etag !== undefined && { "If-None-Match": this.#etag }),
    };
    const outcome = await portal.send("GET", "/policies?active=true", undefined, headers);
    if (outcome.kind !== "done") return;
    portal.tally.policies++;
    if (outcome.status === 304) {
      portal.tally.notModified++;
      return;
    }
    this.#etag = outcome.etag;
    this.#policyVersion = (outcome.body as { readonly version?: string }).version;
  }

  #runCommand(): void {
    const { random, run, number, nextCommand } = this.#options;
    const { command, provider, capability, isDestructive } = nextCommand();
    const isDenied = random() < (isDestructive ? 0.3 : 0.05);
    // The queue is the runtime's local record; at its limit the oldest event is dropped.
    if (this.#queue.length >= MOST_KEPT) this.#queue.shift();
    this.#queue.push({
      attempts: 0,
      event: {
        id: `sim-${run}-${number}-${this.#commands++}`,
        timestamp: new Date().toISOString(),
        command,
        executor: `user${number % 400}@example.com`,
        consumer: (["human", "ai", "ci"] as const)[number % 3],
        provider,
        capability,
        policy_decision: isDenied ? "DENIED" : "ALLOWED",
        ...(this.#policyVersion !== undefined && { policy: this.#policyVersion }),
        ...(isDenied && { reason: "the command is not on the list" }),
        duration_ms: Math.round(20 + 400 * random() * random()),
        runtime_name: this.#name,
        runtime_version: "1.8.2",
        transport: "https",
      },
    });
  }

  /** Sends the queued events; after each failure it waits longer before the next attempt. */
  async #uplink(): Promise<void> {
    const batch = this.#queue.slice(0, MOST_IN_BATCH);
    if (batch.length === 0) return;
    const { portal, random, pace } = this.#options;
    for (const queued of batch) if (queued.attempts++ > 0) portal.tally.resent++;
    const [first] = batch;
    const body = batch.length === 1 ? first?.event : { events: batch.map(({ event }) => event) };
    const outcome = await portal.send("POST", "/audit", body);
    if (outcome.kind === "failed") {
      this.#backoffMs = Math.min(LONGEST_BACKOFF_MS, this.#backoffMs * 2 || FIRST_BACKOFF_MS);
      const pause = Math.max(outcome.retryAfterMs, (this.#backoffMs * (0.5 + random())) / pace);
      await sleep(Math.min(LONGEST_BACKOFF_MS, pause));
      return;
    }
    this.#backoffMs = 0;
    // A refused batch would be refused forever; it is counted and dropped.
    const sent = new Set(batch);
    this.#queue = this.#queue.filter((queued) => !sent.has(queued));
    if (outcome.kind === "done") portal.tally.reported += batch.length;
  }

  async #deliverRest(): Promise<void> {
    for (let tries = 0; this.#queue.length > 0 && tries < LAST_TRIES;) {
      const before = this.#queue.length;
      await this.#uplink();
      if (this.#queue.length === before) tries++;
    }
  }

  #description(): Readonly<Record<string, string>> {
    return {
      name: this.#name,
      hostname: `${this.#name}.example.com`,
      os: "linux",
      version: "1.8.2",
    };
  }
}
