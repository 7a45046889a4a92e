/**
 * Stores events in groups: events that arrive while transactions are under way go into the next one together.
 * So thousands of requests share one round trip, one lock of the organization and one sync. Clients take turns,
 * so the events of one do not wait for all that another has sent.
 */
import { answerAllowance, longAnswer } from "../../../audit/long-answer.ts";
import type { AuditEvent } from "../../../audit/schema.ts";
import type { AuditFigures } from "../../../engine.ts";
import type { Stored } from "../../../audit/store.ts";
import { Unavailable } from "../../../core/errors.ts";
import type { Party } from "../../../core/scheduling/fair-share.ts";
import { Yielder } from "../../../core/scheduling/yielder.ts";
import type { Database } from "../database.ts";
import { codeOf, isToRepeat } from "../faults.ts";
import { repeatedly } from "../repeat.ts";
import type { Partitions } from "./partitions.ts";
import { newEventsOf, type NewEvent } from "./records.ts";
import { appendEvents, type Answer } from "./append.ts";
import { isKnown, linesOfKnown, sizesOf, type Known } from "./known-events.ts";
import { type Opening, UnderWay } from "./under-way.ts";
import { type Place, tooMany, WaitingEvents } from "./waiting-events.ts";

const NO_PARTITION = "23514";

/** The lines of known events are read in parts of this size. A larger append is read alone. */
const PART_BYTES = 8 << 20;

/** The events of one call. All of them are stored, or none. */
interface Append {
  readonly organization: string;
  readonly client: string;
  readonly events: readonly NewEvent[];
  readonly bytes: number;
  /** The most bytes of the answer. */
  readonly allowance: number;
  readonly stored: Stored;
}

/** An append whose events are stored, with the index of each event in the sent group. */
interface Answering {
  readonly append: Append;
  readonly places: readonly number[];
}

/** Called when the commit of a group has stored events of an organization. */
export type Grown = (organization: string, lastRow: number, bytes: number) => void;

export interface GroupCommitOptions {
  readonly database: Database;
  readonly partitions: Partitions;
  /** Whether commits do not wait for the disk of the database. */
  readonly isRelaxed: boolean;
  readonly grown: Grown;
}

/** Takes events and stores them in groups. */
export class GroupCommit {
  readonly #options: GroupCommitOptions;
  readonly #counts = { stored: 0, repeated: 0, failed: 0, pending: 0, pendingBytes: 0 };
  readonly #waiting = new WaitingEvents<Append>();
  #appends = 0;
  readonly #underWay = new UnderWay();
  #isClosed = false;
  #idle = (): void => {};

  constructor(options: GroupCommitOptions) {
    this.#options = options;
  }

  get figures(): AuditFigures {
    return { ...this.#counts };
  }

  /** Stores events, all or none; see `AuditStore.append`. */
  append(
    party: Party,
    events: readonly AuditEvent[],
    stored: Stored,
    named: ReadonlySet<string> | undefined,
  ): void {
    const left = this.#begun(events.length, stored);
    if (this.#isClosed) return left(new Unavailable("The service is stopping", 5));
    const place = this.#waiting.open(party, events.length, left);
    if (place === undefined) return left(tooMany());
    const allowance = answerAllowance(events);
    const preparing = new Yielder().run(newEventsOf(events, named));
    if (!(preparing instanceof Promise)) this.#wait(place, preparing, allowance);
    else this.#waitLater(place, preparing, allowance);
  }

  // The functions of an append that waits are made here: inside `append` they would keep its `events`, too.

  #begun(count: number, stored: Stored): Stored {
    const counts = this.#counts;
    this.#appends++;
    counts.pending += count;
    return (error, json) => {
      this.#appends--;
      counts.pending -= count;
      if (error !== null) counts.failed += count;
      stored(error, json);
    };
  }

  #waitLater(place: Place<Append>, preparing: Promise<readonly NewEvent[]>, most: number): void {
    preparing.then(
      (made) => this.#wait(place, made, most),
      (error: unknown) => this.#waiting.giveUp(place, error),
    );
  }

  #wait(place: Place<Append>, events: readonly NewEvent[], allowance: number): void {
    if (place.isLost) return;
    const counts = this.#counts;
    const bytes = events.reduce((sum, { line }) => sum + line.length, 0);
    counts.pendingBytes += bytes;
    const stored: Stored = (error, json) => {
      counts.pendingBytes -= bytes;
      place.stored(error, json);
    };
    const client = JSON.stringify(place.party);
    const organization = events[0]?.organization_id ?? "";
    const append: Append = { organization, client, events, bytes, allowance, stored };
    this.#waiting.add(place, append);
    if (this.#underWay.hasRoomFor(append)) this.#send();
  }

  /** Refuses further events, and resolves when all accepted events are answered. */
  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#appends > 0) await new Promise<void>((resolve) => (this.#idle = resolve));
  }

  #send(): void {
    for (let next; (next = this.#nextGroup());) {
      const end = this.#underWay.begin(next.group, next.opening);
      void this.#store(next.group).then(() => {
        end();
        this.#send();
        if (this.#appends === 0) this.#idle();
      });
    }
  }

  /** The next group that can begin. */
  #nextGroup(): { readonly group: readonly Append[]; readonly opening: Opening } | undefined {
    for (const opening of this.#waiting.isEmpty ? [] : this.#underWay.open) {
      const group = this.#groupOf(opening);
      if (group.length > 0) return { group, opening };
    }
    return undefined;
  }

  /**
   * A group for a transaction that may begin. An event whose id is under way is not in it, since either transaction could
   * commit first. A client has no more in the group once its next append does not fit, so its appends keep their order.
   */
  #groupOf(opening: Opening): readonly Append[] {
    const group: Append[] = [];
    const passed = new Set<string>();
    let [allEvents, allBytes] = [0, 0];
    const fits = ({ organization, client, events, bytes }: Append): boolean => {
      if (passed.has(client) || this.#underWay.of(organization) !== opening.underWay) return false;
      const isUnderWay = events.some(({ key }) => this.#underWay.has(key));
      const isTooMuch =
        allEvents + events.length > opening.events || allBytes + bytes > opening.bytes;
      if (isUnderWay || (isTooMuch && (group.length > 0 || !opening.takesLonger))) {
        passed.add(client);
        return false;
      }
      [allEvents, allBytes] = [allEvents + events.length, allBytes + bytes];
      return true;
    };
    for (;;) {
      const next = this.#waiting.next(fits);
      if (!next) return group;
      group.push(next);
    }
  }

  /** Refuses the appends whose answers would be too long, before anything is stored. Returns the other appends. */
  async #fitting(group: readonly Append[]): Promise<readonly Append[]> {
    const batches = group.map(({ events }) => events.filter(({ key }) => key !== undefined));
    const asked = batches.filter(({ length }) => length > 1).flat(); // the answer to one event is never too long
    const sizes = await sizesOf(this.#options.database, asked);
    return group.filter(({ events, allowance, stored }) => {
      const own = new Map<string, number>();
      const bytes = events.reduce((sum, { key, line }) => {
        if (key === undefined) return sum + line.length;
        const size = sizes.get(key) ?? own.get(key) ?? line.length;
        own.set(key, size);
        return sum + size;
      }, 0);
      if (bytes > allowance) stored(longAnswer());
      return bytes <= allowance;
    });
  }

  /** Stores a group and answers each of its appends; never rejects. */
  async #store(appends: readonly Append[]): Promise<void> {
    let group: readonly Append[];
    try {
      group = await this.#fitting(appends);
    } catch (error) {
      for (const { stored } of appends) stored(refusalOf(error));
      return;
    }
    if (group.length === 0) return;
    const sent: NewEvent[] = [];
    const placeOf = new Map<string, number>();
    // For each append, the indexes of its events in the sent group. Events with the same id share an index.
    const places = group.map(({ events }) =>
      events.map((event) => {
        const known = event.key === undefined ? undefined : placeOf.get(event.key);
        if (known !== undefined) return known;
        const place = sent.push(event);
        if (event.key !== undefined) placeOf.set(event.key, place);
        return place;
      }),
    );
    let rows: readonly Answer[];
    try {
      rows = await this.#write(sent);
      for (const { place, organization_id, seq, bytes } of rows) {
        if (place === null) this.#options.grown(organization_id, seq, bytes);
      }
    } catch (error) {
      for (const { stored } of group) stored(refusalOf(error));
      return;
    }
    const known = new Map(rows.filter(isKnown).map((row) => [row.place, row]));
    const stored = sent.length - known.size;
    this.#counts.stored += stored;
    this.#counts.repeated += places.reduce((sum, own) => sum + own.length, 0) - stored;
    const sizeOf = (place: number): number =>
      known.get(place)?.bytes ?? (sent[place - 1] as NewEvent).line.length;
    let part: Answering[] = [];
    let bytes = 0;
    for (const [i, append] of group.entries()) {
      const own = places[i] as readonly number[];
      const size = own.reduce((sum, place) => sum + sizeOf(place), 0);
      if (size > append.allowance) {
        append.stored(longAnswer()); // another server has just stored longer events under these ids
        continue;
      }
      if (bytes > 0 && bytes + size > PART_BYTES) {
        await this.#answer(part, known, sent);
        [part, bytes] = [[], 0];
      }
      part.push({ append, places: own });
      bytes += size;
    }
    await this.#answer(part, known, sent);
  }

  /** Answers appends whose events are stored; never rejects. */
  async #answer(
    part: readonly Answering[],
    known: ReadonlyMap<number, Known>,
    sent: readonly NewEvent[],
  ): Promise<void> {
    const repeated = new Set(
      part.flatMap(({ places }) => places.flatMap((at) => known.get(at) ?? [])),
    );
    try {
      const lines = await linesOfKnown(this.#options.database, [...repeated]);
      for (const { append, places } of part) {
        const own = places.map((at) => lines.get(at) ?? (sent[at - 1] as NewEvent).line);
        append.stored(null, own.join(","));
      }
    } catch (error) {
      for (const { append } of part) append.stored(refusalOf(error));
    }
  }

  async #write(events: readonly NewEvent[]): Promise<readonly Answer[]> {
    const { database, partitions, isRelaxed } = this.#options;
    const days = [...new Set(events.map(({ day }) => day))];
    const write = async (): Promise<readonly Answer[]> => {
      await partitions.ensure(days);
      return appendEvents(database, events, isRelaxed);
    };
    return repeatedly(write, async (error) => {
      if (codeOf(error) !== NO_PARTITION) return isToRepeat(error);
      const organizations = events.map((event) => event.organization_id);
      await partitions.remake(days, [...new Set(organizations)]).catch(() => undefined);
      return true;
    });
  }
}

/** The error for the client. Even if the outcome is unknown, events can be sent again: each id is stored once. */
function refusalOf(error: unknown): unknown {
  if (!(error instanceof Unavailable)) return error;
  const message =
    "The database did not confirm that the events are stored: send them again under the same ids, which is safe";
  return Object.assign(new Unavailable(message, error.retryAfterSeconds), { cause: error });
}
