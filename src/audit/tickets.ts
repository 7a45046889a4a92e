import { createHash, randomBytes } from "node:crypto";
import type { Actor, Awaitable, Credentials } from "../core/caller.ts";
import { SECOND_MS, type Clock } from "../core/clock.ts";
import { TooMany } from "../core/errors.ts";
import { FairShare, type Holding, type Party } from "../core/scheduling/fair-share.ts";
import type { Surface } from "../http/route.ts";
import type { ExportView } from "./export.ts";

export const LIFETIME_MS = 60 * SECOND_MS;
export const MAX_TICKETS = 100;
const TICKET_BYTES = 32;

/** The permission that a ticket gives: one export of one organization, under the prefix of its request. */
export interface TicketGrant {
  readonly organization: string;
  readonly actor?: Actor | undefined;
  readonly surface: Surface;
  readonly view: ExportView;
  /** Whether the credentials that requested it are still accepted. */
  readonly isAllowed: () => Awaitable<boolean>;
}

/** A ticket that was made; `expiresAt` is in milliseconds. */
export interface IssuedTicket {
  readonly ticket: string;
  readonly expiresAt: number;
}

/** Makes tickets and redeems them. */
export interface TicketOffice {
  /**
   * Makes a ticket. An organization can have 100 unused tickets under each prefix. At the limit, the newest
   * ticket of the address that holds the most is removed.
   *
   * @param credentials the credentials of the request
   * @param caller surface, organization and network
   * @throws TooMany at the limit, if the caller's own address holds the most tickets
   */
  issue(grant: TicketGrant, caller: Party, credentials: Credentials): Awaitable<IssuedTicket>;

  /** The grant of a ticket; `undefined` if it is unknown, used, expired, or of another surface. */
  find(ticket: string, surface: Surface): Awaitable<TicketGrant | undefined>;

  /** Finds a ticket and uses it up. */
  take(ticket: string, surface: Surface): Awaitable<TicketGrant | undefined>;
}

interface Held extends TicketGrant {
  readonly expiresAt: number;
  readonly holding: Holding<string>;
}

/**
 * Tickets for downloads by a browser, which cannot send credentials with a link. A ticket is random,
 * valid once, and for a minute. Only its hash is kept, in memory, so a restart invalidates all.
 */
export class ExportTickets implements TicketOffice {
  readonly #now: Clock;
  readonly #cut: (hash: string) => void;
  // In the order of creation, which is also the order of expiry.
  readonly #held = new Map<string, Held>();
  /** The hashes of the tickets, by holder. */
  readonly #shares = new FairShare<string>();

  /** @param cut called with the hash of each ticket that is removed to make room for another */
  constructor(now: Clock, cut: (hash: string) => void = () => {}) {
    this.#now = now;
    this.#cut = cut;
  }

  issue(grant: TicketGrant, caller: Party): IssuedTicket {
    this.#dropExpired();
    const ticket = randomBytes(TICKET_BYTES).toString("base64url");
    const hash = ticketHash(ticket);
    const holding = this.#shares.hold(caller, hash);
    const cut = (other: string): void => {
      this.#held.delete(other);
      this.#cut(other);
    };
    if (!this.#shares.makeRoom(holding, 1, MAX_TICKETS, cut, caller.slice(0, 2))) {
      holding.close();
      throw new TooMany(
        `This organization has ${MAX_TICKETS} unused export tickets under this prefix`,
        this.#secondsToRoom(grant),
      );
    }
    holding.set(1);
    const expiresAt = this.#now() + LIFETIME_MS;
    this.#held.set(hash, { ...grant, expiresAt, holding });
    return { ticket, expiresAt };
  }

  find(ticket: string, surface: Surface): TicketGrant | undefined {
    const held = this.#held.get(ticketHash(ticket));
    return held?.surface === surface && held.expiresAt > this.#now() ? held : undefined;
  }

  take(ticket: string, surface: Surface): TicketGrant | undefined {
    const held = this.find(ticket, surface);
    if (held) this.#drop(ticketHash(ticket));
    return held;
  }

  /** The seconds until the first of an organization's tickets expires. */
  #secondsToRoom({ surface, organization }: TicketGrant): number {
    for (const held of this.#held.values()) {
      if (held.surface !== surface || held.organization !== organization) continue;
      return Math.ceil((held.expiresAt - this.#now()) / SECOND_MS);
    }
    return 1;
  }

  #drop(hash: string): void {
    this.#held.get(hash)?.holding.close();
    this.#held.delete(hash);
  }

  #dropExpired(): void {
    const now = this.#now();
    for (const [hash, { expiresAt }] of this.#held) {
      if (expiresAt <= now) this.#drop(hash);
    }
  }
}

/** The SHA-256 of a ticket. The ticket itself is not kept. */
export function ticketHash(ticket: string): string {
  return createHash("sha256").update(ticket, "utf8").digest("base64url");
}
