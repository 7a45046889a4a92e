import type { Heartbeat } from "../../src/fleet/schema.ts";
import type { FleetStore, Kept, StoredRuntime } from "../../src/fleet/store.ts";

/** A fleet in memory, for one test. */
export class MemoryFleet implements Pick<FleetStore, "heartbeat"> {
  readonly #runtimes = new Map<string, StoredRuntime>();

  heartbeat(organization: string, heartbeat: Heartbeat, at: number, kept: Kept): void {
    const key = `${organization}/${heartbeat.name}`;
    const isNew = !this.#runtimes.has(key);
    this.#runtimes.set(key, { ...this.#runtimes.get(key), ...heartbeat, last_seen: at });
    kept(undefined, isNew);
  }

  get(organization: string, name: string): StoredRuntime | undefined {
    return this.#runtimes.get(`${organization}/${name}`);
  }
}
