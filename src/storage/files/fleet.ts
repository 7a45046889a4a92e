/**
 * The fleet on disk: a snapshot and a log of the reports since. A report is appended to the log, and applied
 * to memory once it is in the log. When the log is as large as the snapshot, it rolls to a new file. Then a new
 * snapshot is written that includes the older files, and these are removed. The snapshot names the first log file
 * that it does not include. So its rename is the commit point, and older log files that are found at start are
 * leftovers.
 */
import type { Expected } from "../../core/assignment.ts";
import type { Awaitable } from "../../core/caller.ts";
import { recheckAsker } from "../../core/change-asker.ts";
import { forEachOrganization } from "../../core/each-organization.ts";
import type { Labels } from "../../core/labels.ts";
import type { Searcher } from "../../core/scheduling/fair-share.ts";
import { ownTurn } from "../../core/scheduling/yielder.ts";
import { inSlices } from "../../fleet/listing.ts";
import { fitting } from "../../fleet/filter.ts";
import type { FleetCounts, FleetQuery, FleetStore } from "../../fleet/store.ts";
import type { ForgottenRuntimes, PolicyCount, StoredRuntime } from "../../fleet/store.ts";
import type { FleetIndex } from "./fleet-index.ts";
import { FleetLog, type FleetLogParts } from "./fleet-log.ts";
import { FleetSearches } from "./fleet-search.ts";

/** A log file is folded into the snapshot once it has this size, and is as large as the snapshot. */
const MIN_LOG_BYTES = 4 << 20;

/** The runtimes that are looked up in one turn of the loop: about a millisecond of work. */
const SELECTED_AT_ONCE = 1_000;

/** The parts of all organizations' fleets. */
export type FleetParts = Omit<FleetLogParts, "organization" | "stopping" | "minLogBytes"> &
  Partial<Pick<FleetLogParts, "minLogBytes">>;

/** Keeps every organization's fleet in `fleet.json` and `fleet.jsonl`, and all of them in memory. */
export class FileFleet implements FleetStore {
  readonly #parts: Omit<FleetLogParts, "organization">;
  readonly #stopping = new AbortController();
  readonly #organizations = new Map<string, FleetLog>();
  readonly #searches = new FleetSearches();

  private constructor(parts: FleetParts) {
    this.#parts = { minLogBytes: MIN_LOG_BYTES, ...parts, stopping: this.#stopping.signal };
  }

  /**
   * Reads the fleets of the given organizations: all that have one on disk.
   *
   * @throws Error naming the file and the way out when a snapshot is damaged
   */
  static async open(parts: FleetParts, organizations: readonly string[]): Promise<FileFleet> {
    const fleet = new FileFleet(parts);
    for (const organization of organizations) {
      const opened = await FleetLog.open({ ...fleet.#parts, organization });
      fleet.#organizations.set(organization, opened);
    }
    return fleet;
  }

  /** The error that stops writing some log; `undefined` while all can be written. */
  get failure(): unknown {
    for (const fleet of this.#organizations.values()) {
      if (fleet.failure !== undefined) return fleet.failure;
    }
    return undefined;
  }

  /** The active files, each with its acknowledged bytes. */
  get committed(): readonly (readonly [path: string, bytes: number])[] {
    return Array.from(this.#organizations.values()).flatMap(({ committed }) =>
      committed === undefined ? [] : [committed],
    );
  }

  /** Retries writing after a failure. */
  recover(): void {
    for (const fleet of this.#organizations.values()) fleet.recover();
  }

  /** Counts the runtimes of all organizations; `now` decides who is online. */
  totals(now: number): Pick<FleetCounts, "online" | "total"> {
    let [online, total] = [0, 0];
    for (const { index } of this.#organizations.values()) {
      online += index.counts(now, { active: "" }).online;
      total += index.size;
    }
    return { online, total };
  }

  readonly heartbeat: FleetStore["heartbeat"] = (organization, report, at, kept, quota, labels) =>
    this.#of(organization).heartbeat(report, at, kept, quota, labels);

  readonly page: FleetStore["page"] = (organization, query, limit, offset, searcher) => {
    const { index } = this.#of(organization);
    return this.#searches.page(index, { fits: fitting(query), limit, offset }, searcher?.gone);
  };

  list(
    organization: string,
    query: FleetQuery,
    searcher?: Searcher,
  ): AsyncIterable<readonly StoredRuntime[]> {
    const rows = this.#of(organization).index.rows();
    const fits = fitting(query);
    const slice = (from: number, to: number) => rows.slice(from, to, fits);
    return inSlices({ length: rows.total, slice }, searcher?.party);
  }

  counts(organization: string, now: number, expected: Expected): Awaitable<FleetCounts> {
    const { index } = this.#of(organization);
    if (expected.rollout === undefined) return index.counts(now, expected);
    return this.#countSelected(index, now, expected);
  }

  labels(organization: string, name: string): Labels | undefined {
    return this.#of(organization).index.get(name)?.labels;
  }

  policies(organization: string, now: number, limit: number): readonly PolicyCount[] {
    return this.#of(organization).index.policies(now, limit);
  }

  async forget(organization: string, name: string): Promise<boolean> {
    const checked = recheckAsker();
    if (checked) await checked; // otherwise the removal stands before a report that comes next
    return this.#of(organization).forget(name);
  }

  async forgetSilent(before: number): Promise<readonly ForgottenRuntimes[]> {
    const forgotten: ForgottenRuntimes[] = [];
    const parts = { log: this.#parts.log, failure: "fleet retention failed" };
    await forEachOrganization(parts, this.#organizations.keys(), async (organization) => {
      const runtimes = await this.#of(organization).forgetSilent(before);
      if (runtimes > 0) forgotten.push({ organization, runtimes });
    });
    return forgotten;
  }

  /** Finishes pending reports and writes, and closes. */
  async close(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(Array.from(this.#organizations.values(), (fleet) => fleet.close()));
  }

  known(organization: string, names: readonly string[]): readonly string[] {
    const { index } = this.#of(organization);
    return names.filter((name) => index.get(name) !== undefined);
  }

  async #countSelected(index: FleetIndex, now: number, expected: Expected): Promise<FleetCounts> {
    for (const _ of index.selecting(expected, SELECTED_AT_ONCE)) await ownTurn();
    return index.counts(now, expected);
  }

  /** All stored fleets were read at start, so the fleet of any other organization is new and empty. */
  #of(organization: string): FleetLog {
    let fleet = this.#organizations.get(organization);
    if (fleet === undefined) {
      fleet = new FleetLog({ ...this.#parts, organization });
      this.#organizations.set(organization, fleet);
    }
    return fleet;
  }
}
