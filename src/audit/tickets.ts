import { createHash, randomBytes } from "node:crypto";
import type { Actor } from "../core/caller.ts";
import { SECOND_MS, type Clock } from "../core/clock.ts";
import { TooMany } from "../core/errors.ts";
import type { Surface } from "../http/route.ts";
import type { ExportView } from "./export.ts";

const LIFETIME_MS = 60 * SECOND_MS;
const MAX_TICKETS = 100;
const TICKET_BYTES = 32;

/** What a ticket is good for: one export, of one organization, under the prefix it was made for. */
export interface TicketGrant {
  readonly organization: string;
  /** Who asked for it. */
  readonly actor?: Actor | undefined;
  readonly surface: Surface;
  readonly view: ExportView;
}

interface Held extends TicketGrant {
  readonly expiresAt: number;
}

/**
 * Tickets for downloads by a browser, which cannot send credentials with a link. A ticket is random,
 * good once, and for a minute; only its hash is kept, in memory, so a restart ends them all.
 */
export class ExportTickets {
  readonly #now: Clock;
  // In the order in which they were made, so those that end first come first.
  readonly #held = new Map<string, Held>();

  constructor(now: Clock) {
    this.#now = now;
  }

  /**
   * Makes a ticket; `expiresAt` is in milliseconds.
   *
   * @throws TooMany when the organization has 100 that were not used
   */
  issue(grant: TicketGrant): { readonly ticket: string; readonly expiresAt: number } {
    this.#dropExpired();
    const { organization } = grant;
    const own = [...this.#held.values()].filter((one) => one.organization === organization);
    const [first] = own;
    if (first !== undefined && own.length >= MAX_TICKETS) {
      const seconds = Math.ceil((first.expiresAt - this.#now()) / SECOND_MS);
      throw new TooMany(`There are ${MAX_TICKETS} export tickets that nobody has used`, seconds);
    }
    const ticket = randomBytes(TICKET_BYTES).toString("base64url");
    const expiresAt = this.#now() + LIFETIME_MS;
    this.#held.set(hashOf(ticket), { ...grant, expiresAt });
    return { ticket, expiresAt };
  }

  /** What a ticket is good for; `undefined` when it is unknown, used, over, or of another surface. */
  find(ticket: string, surface: Surface): TicketGrant | undefined {
    const held = this.#held.get(hashOf(ticket));
    return held?.surface === surface && held.expiresAt > this.#now() ? held : undefined;
  }

  /** Finds a ticket and uses it up. */
  take(ticket: string, surface: Surface): TicketGrant | undefined {
    const held = this.find(ticket, surface);
    if (held) this.#held.delete(hashOf(ticket));
    return held;
  }

  #dropExpired(): void {
    const now = this.#now();
    for (const [hash, { expiresAt }] of this.#held) {
      if (expiresAt <= now) this.#held.delete(hash);
    }
  }
}

function hashOf(ticket: string): string {
  return createHash("sha256").update(ticket, "utf8").digest("base64url");
}
