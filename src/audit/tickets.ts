import { createHash, randomBytes } from "node:crypto";
import type { Actor, Awaitable } from "../core/caller.ts";
import { SECOND_MS, type Clock } from "../core/clock.ts";
import { TooMany } from "../core/errors.ts";
import { FairShare, type Holding, type Party } from "../core/fair-share.ts";
import type { Surface } from "../http/route.ts";
import type { ExportView } from "./export.ts";

export const LIFETIME_MS = 60 * SECOND_MS;
export const MAX_TICKETS = 100;
const TICKET_BYTES = 32;

/** The permission that a ticket gives: one export, of one organization, under the prefix it was made for. */
export interface TicketGrant {
  readonly organization: string;
  /** The actor that requested the ticket. */
  readonly actor?: Actor | undefined;
  readonly surface: Surface;
  readonly view: ExportView;
  /** Whether the credentials that requested it are still accepted. */
  readonly isAllowed: () => Awaitable<boolean>;
}

interface Held extends TicketGrant {
  readonly expiresAt: number;
  readonly holding: Holding<string>;
}

/**
 * Tickets for downloads by a browser, which cannot send credentials with a link. A ticket is random,
 * valid once, and for a minute. Only its hash is kept, in memory, so a restart invalidates all.
 */
export class ExportTickets {
  readonly #now: Clock;
  // In the order of creation, which is also the order of expiry.
  readonly #held = new Map<string, Held>();
  /** The hashes of the tickets, by holder. */
  readonly #shares = new FairShare<string>();

  constructor(now: Clock) {
    this.#now = now;
  }

  /**
   * Makes a ticket; `expiresAt` is in milliseconds. If the organization has 100 unused ones under
   * this prefix, the newest ticket of the address that holds most of them is removed.
   *
   * @param caller surface, organization and network
   * @throws TooMany if the caller's own address holds most of them
   */
  issue(
    grant: TicketGrant,
    caller: Party,
  ): { readonly ticket: string; readonly expiresAt: number } {
    this.#dropExpired();
    const ticket = randomBytes(TICKET_BYTES).toString("base64url");
    const hash = hashOf(ticket);
    const holding = this.#shares.hold(caller, hash);
    const cut = (other: string): void => void this.#held.delete(other);
    if (!this.#shares.makeRoom(holding, 1, MAX_TICKETS, cut, caller.slice(0, 2))) {
      holding.close();
      throw new TooMany(
        `There are ${MAX_TICKETS} export tickets that nobody has used`,
        this.#secondsToRoom(grant),
      );
    }
    holding.set(1);
    const expiresAt = this.#now() + LIFETIME_MS;
    this.#held.set(hash, { ...grant, expiresAt, holding });
    return { ticket, expiresAt };
  }

  /** The grant of a ticket; `undefined` if it is unknown, used, expired, or of another surface. */
  find(ticket: string, surface: Surface): TicketGrant | undefined {
    const held = this.#held.get(hashOf(ticket));
    return held?.surface === surface && held.expiresAt > this.#now() ? held : undefined;
  }

  /** Finds a ticket and uses it up. */
  take(ticket: string, surface: Surface): TicketGrant | undefined {
    const held = this.find(ticket, surface);
    if (held) this.#drop(hashOf(ticket));
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

function hashOf(ticket: string): string {
  return createHash("sha256").update(ticket, "utf8").digest("base64url");
}
