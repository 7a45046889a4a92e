/** Divides the processing of large request bodies among their senders. */
import { FairLine } from "../../core/scheduling/fair-line.ts";
import type { Party } from "../../core/scheduling/fair-share.ts";
import { clearInterval, setImmediate, setInterval } from "../../core/timers.ts";
import type { BodyMemory } from "./body-memory.ts";

/** A large body, which waits until it may be parsed and is then in work until the answer. */
interface LargeBody {
  readonly party: Party;
  readonly user: Group;
  /** Its user, address, organization and prefix, and all. */
  readonly groups: readonly Group[];
  /** Its size, and more if its values take much memory for their text. */
  readonly cost: number;
  /** The part of the room that it takes. */
  readonly counted: number;
  /** The number of large bodies that arrived before it. */
  readonly order: number;
  /** The parts of the bodies that arrived later and began before, since the last look. */
  passed: number;
  /** The looks since the body began. */
  looks: number;
  /** Whether it is in the second room. */
  isSlow: boolean;
  readonly start: (release: () => void) => void;
}

/** Senders that share a part of each room. */
interface Group {
  readonly name: string;
  readonly isAddress?: true;
  readonly part: number;
}

/**
 * The parts of a room that the bodies of all, of one prefix, of one organization, of one user, and of one address in whatever
 * organizations may take. An address leaves room for a largest body under each prefix, and so does an organization.
 */
export const WORK_PARTS = {
  all: 1,
  prefix: 3 / 4,
  organization: 1 / 3,
  user: 1 / 6,
  address: 1 / 4,
} as const;
const ALL: Group = { name: "", part: WORK_PARTS.all };
/**
 * A larger body counts as this part, and leaves some to others of its organization. If it were processed alone, all others
 * would wait for it, and a text can be made to take seconds.
 */
const LARGEST_PART = 1 / 4;
/** A body up to this part begins in a larger room if its user has none in work: slow bodies can fill the usual one exactly. */
export const SMALL_PART = 1 / 48;
export const ROOM_OF_SMALL = 5 / 4;
/** A user without a body in work may begin one beside others of its address in as much more of its part: it may be a proxy's. */
export const ROOM_OF_IDLE = 2;
/** Between two looks as much may pass a body that waits for room: more would hold it up for long. */
const PASSING_PART = 1 / 6;
const LOOK_MS = 500;
/** A body that is still in work at its second look takes long. */
const LONG_LOOKS = 2;

/** Calls a function again and again; the result ends that. */
export type Repeat = (look: () => void) => () => void;

function everyHalfSecond(look: () => void): () => void {
  const timer = setInterval(look, LOOK_MS).unref();
  return () => clearInterval(timer);
}

/**
 * Limits the cost of the large bodies that are in work. No user, address, organization or prefix takes all of their room,
 * since a body may wait for seconds for turns of other work. A body that takes longer than a second leaves its room to
 * others, except to its own user, and moves to a second room of the same size, unless its group has its part of that too.
 */
export class LargeBodies {
  readonly #limit: number;
  readonly #memory: BodyMemory;
  readonly #repeat: Repeat;
  readonly #line = new FairLine<LargeBody>();
  readonly #inWork = new Set<LargeBody>();
  /** The costs in work of each group, in both rooms and in the second one. */
  readonly #held = new Costs();
  readonly #slow = new Costs();
  /** The first body that waits for room in a group, by the name of the group. */
  readonly #first = new Map<string, LargeBody>();
  #arrived = 0;
  /** Whether a body has begun in this turn of the event loop. */
  #pauses = false;
  #endLooks: (() => void) | undefined;

  /**
   * @param limit the size of each room
   */
  constructor(limit: number, memory: BodyMemory, repeat: Repeat = everyHalfSecond) {
    this.#limit = limit;
    this.#memory = memory;
    this.#repeat = repeat;
  }

  /** The cost of the bodies in work. */
  get cost(): number {
    return this.#held.of(ALL);
  }

  /**
   * Calls `start` when a body may be processed: at once if there is room and none has begun in this turn of the event loop,
   * otherwise when its sender's turn comes. Call `release` once, when the request is answered.
   *
   * @returns cancels a turn that has not begun
   */
  add(party: Party, cost: number, start: (release: () => void) => void): () => void {
    const counted = Math.min(cost, this.#limit * LARGEST_PART);
    const order = this.#arrived++;
    const groups = groupsOf(party);
    const [user] = groups;
    const body = {
      party,
      user,
      groups,
      cost,
      counted,
      order,
      passed: 0,
      looks: 0,
      isSlow: false,
      start,
    };
    this.#line.add(body);
    this.#admit();
    return () => {
      this.#line.remove(body);
      this.#waitNoMore(body);
      this.#admit();
    };
  }

  /** Begins at most one body in each turn of the event loop, so that other requests are served in between. */
  #admit(): void {
    if (this.#pauses) return;
    const next = this.#line.next(this.#hasRoom);
    if (!next) return;
    this.#waitNoMore(next);
    const { party, groups, cost, counted, start } = next;
    this.#line.hold(party, counted);
    this.#held.add(groups, counted);
    this.#memory.workOn(cost);
    this.#inWork.add(next);
    this.#endLooks ??= this.#repeat(() => this.#look());
    this.#pauses = true;
    setImmediate(() => {
      this.#pauses = false;
      this.#admit();
    });
    start(() => {
      this.#inWork.delete(next);
      if (next.isSlow) this.#slow.add(groups, -counted);
      this.#line.hold(party, -counted);
      this.#held.add(groups, -counted);
      this.#memory.workOn(cost);
      this.#admit();
    });
  }

  /** Moves bodies that take long to the second room, and lets others pass those that wait. */
  #look(): void {
    if (this.#inWork.size === 0) {
      this.#endLooks?.();
      this.#endLooks = undefined;
    }
    for (const body of this.#inWork) {
      if (++body.looks < LONG_LOOKS || body.isSlow || !this.#fitsSlow(body)) continue;
      body.isSlow = true;
      this.#slow.add(body.groups, body.counted);
    }
    for (const first of this.#first.values()) first.passed = 0;
    this.#admit();
  }

  /**
   * Whether a body has room among those of each of its groups. Others pass the first one that waits in a group only if
   * their user has none in work, and only so much of them that it does not wait for ever.
   */
  #hasRoom = (body: LargeBody): boolean => {
    const { user, groups, counted, order } = body;
    const isIdle = this.#held.of(user) === 0;
    const passed = new Set<LargeBody>();
    for (const group of groups) {
      const first = this.#first.get(group.name);
      const isBehind = first !== undefined && first.order < order;
      if (!this.#fits(body, group, isIdle)) {
        if (!isBehind) this.#first.set(group.name, body);
        return false;
      }
      if (!isBehind) continue;
      if (!isIdle || first.passed + counted > this.#limit * PASSING_PART) return false;
      passed.add(first);
    }
    for (const other of passed) other.passed += counted;
    return true;
  };

  /** Whether a body fits into the part of a group. */
  #fits({ user, counted }: LargeBody, group: Group, isIdle: boolean): boolean {
    const isSmall = isIdle && counted <= this.#limit * SMALL_PART;
    let room = this.#limit * group.part;
    if (isIdle && group.isAddress) room *= ROOM_OF_IDLE;
    if (isSmall) room *= ROOM_OF_SMALL;
    const slow = group === user ? 0 : this.#slow.of(group);
    return fitsBeside(this.#held.of(group) - slow, counted, room);
  }

  /** Whether a body that takes long fits into the second room, of which a group may have the same part. */
  #fitsSlow({ groups, counted }: LargeBody): boolean {
    return groups.every((group) =>
      fitsBeside(this.#slow.of(group), counted, this.#limit * group.part),
    );
  }

  #waitNoMore(body: LargeBody): void {
    for (const [group, first] of this.#first) if (first === body) this.#first.delete(group);
  }
}

/** The costs of bodies by group. */
class Costs {
  readonly #costs = new Map<string, number>();

  of({ name }: Group): number {
    return this.#costs.get(name) ?? 0;
  }

  /** @param by below 0 if it has ended */
  add(groups: readonly Group[], by: number): void {
    for (const group of groups) {
      const cost = this.of(group) + by;
      if (cost === 0) this.#costs.delete(group.name);
      else this.#costs.set(group.name, cost);
    }
  }
}

/** The groups of a sender: its user, address, organization and prefix, and all. */
function groupsOf([prefix, organization, address]: Party): readonly [Group, ...Group[]] {
  return [
    { name: `${prefix} ${organization} ${address}`, part: WORK_PARTS.user },
    { name: `address ${address}`, isAddress: true, part: WORK_PARTS.address },
    { name: `${prefix} ${organization}`, part: WORK_PARTS.organization },
    { name: `${prefix}`, part: WORK_PARTS.prefix },
    ALL,
  ];
}

/** Whether a body fits beside what a group holds. A group that holds nothing may have a larger one. */
function fitsBeside(held: number, counted: number, room: number): boolean {
  return held === 0 || held + counted <= room;
}
