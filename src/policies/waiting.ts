/**
 * Runtimes that wait for another policy version. One sweep looks at all of them: a timer for each would cost more
 * memory than the rest of a waiter. A sweep reads the versions of an organization once, however many of its runtimes
 * wait, and a runtime's answer is made again only if they have changed.
 */
import type { Assignments, Expected } from "../core/assignment.ts";
import { CHECK_EVERY_MS, requireAccepted, whenReady, type Awaitable } from "../core/caller.ts";
import { SECOND_MS, type Clock } from "../core/clock.ts";
import { FairShare, type Holding, type Party } from "../core/scheduling/fair-share.ts";
import { clearTimeout, setTimeout } from "../core/timers.ts";
import { Yielder } from "../core/scheduling/yielder.ts";
import type { Reply } from "../http/reply.ts";

/** The longest wait that can be asked for, in seconds. */
export const LONGEST_WAIT = 60;
/** The share of the connections that may wait. */
const SHARE_OF_CONNECTIONS = 0.75;
/** The interval of sweeps while runtimes wait, as for streams over a database. */
const SWEEP_EVERY_MS = 200;
export const NOT_MODIFIED = 304;

/** A request that may wait. */
export interface WaitingFetch {
  readonly organization: string;
  readonly client: WaitingClient;
  readonly seconds: number;
  /** Makes the answer of this moment. */
  readonly answer: () => Awaitable<Reply>;
}

interface WaitingClient {
  readonly party: Party;
  /** Makes a check whether the credentials are still accepted. */
  acceptance(): () => Awaitable<boolean>;
  /** Calls a listener, once, if the client leaves. */
  onGone(listener: (error: Error) => void): void;
  /** Calls a listener once another request waits behind this one on its connection. */
  onFollowed(listener: () => void): void;
}

/** A request that waits. */
interface Waiter {
  readonly fetch: WaitingFetch;
  /** The answer without a change. */
  readonly unchanged: Reply;
  readonly resolve: (answer: Reply) => void;
  readonly reject: (error: unknown) => void;
  readonly until: number;
  seen: string;
  checkAt: number;
  /** Whether its credentials or its answer are being looked up. */
  isBusy: boolean;
}

/** All requests that wait for another version. */
export class VersionWaiters {
  readonly #assignments: Pick<Assignments, "expected">;
  readonly #now: Clock;
  readonly #most: number;
  readonly #shares = new FairShare<Waiter>();
  readonly #waiting = new Map<Waiter, Holding<Waiter>>();
  #timer: NodeJS.Timeout | undefined;
  #isSweeping = false;
  #isClosed = false;

  constructor(assignments: Pick<Assignments, "expected">, now: Clock, maxConnections: number) {
    this.#assignments = assignments;
    this.#now = now;
    this.#most = Math.ceil(maxConnections * SHARE_OF_CONNECTIONS);
  }

  /** The number of requests that wait. */
  get size(): number {
    return this.#waiting.size;
  }

  /** The versions that runtimes of an organization get, as a text that changes with them. */
  versions(organization: string): Awaitable<string> {
    return whenReady(this.#assignments.expected(organization), textOf);
  }

  /**
   * Answers when the answer is no longer 304, or when the time is over. At the limit, the newest request of the address
   * with the most requests is answered at once. So is a request behind which another one waits on its connection.
   *
   * @param seen the versions before the answer was made for the first time; see `VersionWaiters.versions`
   * @param unchanged the answer without a change
   */
  wait(fetch: WaitingFetch, seen: string, unchanged: Reply): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const now = this.#now();
      const until = now + fetch.seconds * SECOND_MS;
      const checkAt = now + CHECK_EVERY_MS;
      // Without `...`, which would give each object a hidden class of its own.
      this.#begin({ fetch, unchanged, resolve, reject, until, seen, checkAt, isBusy: false });
    });
  }

  #begin(waiter: Waiter): void {
    const { client } = waiter.fetch;
    const holding = this.#shares.hold(client.party, waiter);
    const cut = (other: Waiter): void => this.#settle(other, other.unchanged);
    if (this.#isClosed || !this.#shares.makeRoom(holding, 1, this.#most, cut)) {
      holding.close();
      return waiter.resolve(waiter.unchanged);
    }
    holding.set(1);
    this.#waiting.set(waiter, holding);
    client.onGone((error) => this.#settle(waiter, Promise.reject(error)));
    client.onFollowed(() => this.#settle(waiter, waiter.unchanged));
    this.#schedule();
  }

  /** Answers all requests, and lets none wait any more. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    for (const waiter of this.#waiting.keys()) this.#settle(waiter, waiter.unchanged);
  }

  #settle(waiter: Waiter, answer: Awaitable<Reply>): void {
    this.#waiting.get(waiter)?.close();
    this.#waiting.delete(waiter);
    if (answer instanceof Promise) answer.then(waiter.resolve, waiter.reject);
    else waiter.resolve(answer);
  }

  #schedule(): void {
    if (this.#isSweeping || this.#timer || this.#waiting.size === 0) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#isSweeping = true;
      void this.#sweep().finally(() => {
        this.#isSweeping = false;
        this.#schedule();
      });
    }, SWEEP_EVERY_MS).unref();
  }

  async #sweep(): Promise<void> {
    const versions = await this.#readVersions();
    const yielder = new Yielder();
    for (const waiter of this.#waiting.keys()) {
      if (yielder.isDue) await yielder.step();
      if (waiter.isBusy) continue;
      const now = this.#now(); // later than the start of a request that began during the sweep
      // The clock may be set back.
      const isOver = now >= waiter.until || now < waiter.until - waiter.fetch.seconds * SECOND_MS;
      const current = versions.get(waiter.fetch.organization) ?? waiter.seen;
      if (isOver || current !== waiter.seen) {
        void this.#look(waiter, current, isOver);
      } else if (now >= waiter.checkAt) {
        waiter.checkAt = now + CHECK_EVERY_MS;
        void this.#check(waiter);
      }
    }
  }

  /** The versions of all organizations in question; those that cannot be read are left out. */
  async #readVersions(): Promise<ReadonlyMap<string, string>> {
    const versions = new Map<string, string>();
    const organizations = new Set<string>();
    for (const { fetch } of this.#waiting.keys()) organizations.add(fetch.organization);
    await Promise.all(
      Array.from(organizations, async (organization) => {
        try {
          versions.set(organization, await this.versions(organization));
        } catch {
          // The store cannot be read: its requests wait until it can, or until their time is over.
        }
      }),
    );
    return versions;
  }

  /** Makes the answer again, and sends it unless it is a 304 before its time. */
  async #look(waiter: Waiter, versions: string, isOver: boolean): Promise<void> {
    waiter.isBusy = true;
    try {
      const answer = await waiter.fetch.answer();
      if (isOver || answer.status !== NOT_MODIFIED) this.#settle(waiter, answer);
      else waiter.seen = versions;
    } catch (error) {
      this.#settle(waiter, Promise.reject(error as Error));
    } finally {
      waiter.isBusy = false;
    }
  }

  async #check(waiter: Waiter): Promise<void> {
    waiter.isBusy = true;
    try {
      const message = "The credentials of a waiting request are no longer accepted";
      await requireAccepted(waiter.fetch.client.acceptance(), message);
    } catch (error) {
      this.#settle(waiter, Promise.reject(error as Error));
    } finally {
      waiter.isBusy = false;
    }
  }
}

function textOf({ active, rollout }: Expected): string {
  // A stage that starts is added to those of the rollout.
  return rollout ? `${active}\n${rollout.id}\n${rollout.stages.length}` : active;
}
