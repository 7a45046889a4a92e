/** The connections for searches. They are apart from those for short statements, so that slow searches do not slow ingest. */
import { HOUR_MS } from "../../core/clock.ts";
import { Unavailable } from "../../core/errors.ts";
import type { Searcher } from "../../core/scheduling/fair-share.ts";
import { Turns, type Asker } from "../../core/scheduling/turns.ts";
import { CANCELED, codeOf } from "./faults.ts";
import { LimitedPool, WAIT_MS, type PoolClient, type PoolShape } from "./pool.ts";

/** The time limit of a search in milliseconds. */
const SEARCH_MS = 30_000;
/** The most searches that wait for a connection; further ones are refused at once. */
const MAX_WAITING = 100;
const TOO_MANY = "Too many searches are waiting for the database: try again";
/** The maintenance of the tables takes turns as an organization does. No organization has this name. */
const MAINTENANCE = "";

/** Waits for a client's turn, as long as a request waits for a connection. The result ends the turn. */
export async function turnOf(
  turns: Turns,
  { party, gone }: Pick<Asker, "party" | "gone">,
  refusal: string,
): Promise<() => void> {
  const late = AbortSignal.timeout(WAIT_MS);
  const ends = gone === undefined ? late : AbortSignal.any([gone, late]);
  try {
    return await turns.wait(party, ends);
  } catch (error) {
    throw error === late.reason ? new Unavailable(refusal, 1) : error;
  }
}

/** A client in a line where organizations take turns first, then the prefixes of one, then networks. */
export function byOrganization(organization: string, searcher: Searcher | undefined): Asker {
  const [surface = "", , ...network] = searcher?.party ?? [];
  const party = [organization, surface, ...network];
  return { party, ...(searcher?.gone && { gone: searcher.gone }) };
}

/**
 * Runs searches on a few connections. A search may take 30 seconds: without turns, one client of one organization held all
 * connections, and the searches of the others were refused. So an organization leaves one connection to the others, and
 * those who search in it by one prefix leave one to those who use the other.
 */
export class Searches {
  readonly #pool: LimitedPool;
  readonly #turns: Turns;
  readonly #cancel: (processId: number | null) => Promise<void>;

  /**
   * @param mostOfOne the most connections that the clients of one organization and prefix use
   * @param cancel cancels what a process of the database does; never rejects
   */
  constructor(
    shape: PoolShape,
    mostOfOne: number,
    cancel: (processId: number | null) => Promise<void>,
  ) {
    const atOnce = mostOfOne + 2;
    const limits = {
      atOnce,
      atOnceOfOne: mostOfOne,
      atOnceOfGroups: [mostOfOne + 1, mostOfOne],
      waiting: MAX_WAITING,
      areShort: true,
    } as const;
    this.#pool = new LimitedPool(shape, atOnce, SEARCH_MS, MAX_WAITING);
    this.#turns = new Turns(limits, TOO_MANY);
    this.#cancel = cancel;
  }

  /** Runs a query of an organization. It is canceled when its client leaves. */
  async run<Result>(
    organization: string,
    ask: (client: PoolClient) => Promise<Result>,
    searcher: Searcher | undefined,
  ): Promise<Result> {
    const signal = searcher?.gone;
    const search = async (client: PoolClient): Promise<Result> => {
      signal?.throwIfAborted();
      let canceled: Promise<void> | undefined;
      const { processID } = client as PoolClient & { readonly processID: number | null };
      const cancel = (): void => void (canceled = this.#cancel(processID));
      signal?.addEventListener("abort", cancel, { once: true });
      try {
        return await ask(client);
      } catch (error) {
        signal?.throwIfAborted();
        if (codeOf(error) !== CANCELED) throw error;
        const message = `The search took over ${SEARCH_MS / 1_000} s: narrow it, such as by from and to`;
        throw Object.assign(new Unavailable(message, 1), { cause: error });
      } finally {
        signal?.removeEventListener("abort", cancel);
        await canceled; // otherwise it could cancel the next search on this connection
      }
    };
    const endTurn = await turnOf(this.#turns, byOrganization(organization, searcher), TOO_MANY);
    try {
      return await this.#pool.use(search, signal);
    } finally {
      endTurn();
    }
  }

  /**
   * Runs statements without parameters as one transaction that may take an hour. It waits for its turn without a limit,
   * since what it waits for may be other maintenance.
   */
  async maintain(text: string): Promise<void> {
    const query = { text: `SET LOCAL statement_timeout = 0; ${text}`, query_timeout: HOUR_MS };
    await this.#turns.run({ party: [MAINTENANCE] }, () =>
      this.#pool.use((client) => client.query(query)),
    );
  }

  close(): Promise<void> {
    return this.#pool.close();
  }
}
