import type { Heartbeat } from "../../src/fleet/schema.ts";
import type {
  FleetCounts,
  FleetRows,
  FleetStore,
  Kept,
  PolicyCount,
  StoredRuntime,
} from "../../src/fleet/store.ts";

/** A fleet in memory, for one test. */
export class MemoryFleet implements FleetStore {
  readonly #fleets = new Map<string, Map<string, StoredRuntime>>();

  heartbeat(organization: string, heartbeat: Heartbeat, at: number, kept: Kept): void {
    const fleet = this.#of(organization);
    const isNew = !fleet.has(heartbeat.name);
    fleet.set(heartbeat.name, { ...fleet.get(heartbeat.name), ...heartbeat, last_seen: at });
    kept(undefined, isNew);
  }

  beat(organization: string, name: string): Promise<unknown> {
    return new Promise((resolve) => this.heartbeat(organization, { name }, 0, resolve));
  }

  get(organization: string, name: string): StoredRuntime | undefined {
    return this.#of(organization).get(name);
  }

  list(organization: string): FleetRows {
    const rows = [...this.#of(organization).values()];
    return { total: rows.length, slice: (from, to) => rows.slice(from, to) };
  }

  counts(organization: string): FleetCounts {
    const { size } = this.#of(organization);
    return { online: size, idle: 0, drifted: 0, total: size };
  }

  policies(): readonly PolicyCount[] {
    return [];
  }

  forget(organization: string, name: string): Promise<boolean> {
    return Promise.resolve(this.#of(organization).delete(name));
  }

  #of(organization: string): Map<string, StoredRuntime> {
    const fleet = this.#fleets.get(organization) ?? new Map<string, StoredRuntime>();
    this.#fleets.set(organization, fleet);
    return fleet;
  }
}
