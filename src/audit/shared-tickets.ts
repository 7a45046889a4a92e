/** Tickets that every server of a deployment can redeem. */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import type { Credentials } from "../core/caller.ts";
import type { Clock } from "../core/clock.ts";
import type { Party } from "../core/scheduling/fair-share.ts";
import type { Surface } from "../http/route.ts";
import {
  ExportTickets,
  ticketHash,
  type IssuedTicket,
  type TicketGrant,
  type TicketOffice,
} from "./tickets.ts";

/** Keeps the sealed grants of tickets, by the hashes of the tickets. */
export interface TicketRecords {
  put(hash: string, sealed: Buffer, expiresAt: number): Promise<void>;
  /** A grant that has not expired at `now`, in milliseconds. */
  find(hash: string, now: number): Promise<Buffer | undefined>;
  /** Like `find`, and removes the grant. If several callers take it at once, only one gets it. */
  take(hash: string, now: number): Promise<Buffer | undefined>;
  remove(hash: string): Promise<void>;
}

/** Whether credentials are accepted at present, for a caller of an organization. */
export type AcceptCredentials = (
  credentials: Credentials,
  surface: Surface,
  organization: string,
) => Promise<boolean>;

interface Sealed extends Omit<TicketGrant, "isAllowed"> {
  readonly credentials: Credentials;
}

const CIPHER = "aes-256-gcm";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Keeps grants where all servers find them. The server that redeems a ticket checks again the credentials
 * that requested it. So the record contains them, encrypted by a key that is derived from the ticket. The
 * records have only the ticket's hash, so a reader of the records cannot decrypt them.
 *
 * Each server counts only its own tickets towards the limit of an organization.
 */
export class SharedTickets implements TicketOffice {
  readonly #records: TicketRecords;
  readonly #accept: AcceptCredentials;
  readonly #now: Clock;
  readonly #own: ExportTickets;

  constructor(records: TicketRecords, accept: AcceptCredentials, now: Clock) {
    this.#records = records;
    this.#accept = accept;
    this.#now = now;
    this.#own = new ExportTickets(now, (hash) => {
      records.remove(hash).catch(() => undefined); // it expires within a minute anyway
    });
  }

  async issue(grant: TicketGrant, caller: Party, credentials: Credentials): Promise<IssuedTicket> {
    const issued = this.#own.issue(grant, caller);
    const { ticket, expiresAt } = issued;
    const { isAllowed: _, ...kept } = grant;
    await this.#records.put(ticketHash(ticket), seal({ ...kept, credentials }, ticket), expiresAt);
    return issued;
  }

  async find(ticket: string, surface: Surface): Promise<TicketGrant | undefined> {
    const sealed = await this.#records.find(ticketHash(ticket), this.#now());
    const grant = sealed && unseal(sealed, ticket);
    if (grant?.surface !== surface) return undefined;
    const { credentials, ...kept } = grant;
    return {
      ...kept,
      isAllowed: () => this.#accept(credentials, surface, grant.organization),
    };
  }

  async take(ticket: string, surface: Surface): Promise<TicketGrant | undefined> {
    const grant = await this.find(ticket, surface); // a request under another surface must not use it up
    if (!grant) return undefined;
    this.#own.take(ticket, surface);
    const taken = await this.#records.take(ticketHash(ticket), this.#now());
    return taken && grant;
  }
}

function seal(grant: Sealed, ticket: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, keyOf(ticket), nonce);
  const text = cipher.update(JSON.stringify(grant), "utf8");
  const end = cipher.final();
  return Buffer.concat([nonce, cipher.getAuthTag(), text, end]);
}

function unseal(sealed: Buffer, ticket: string): Sealed {
  const text = NONCE_BYTES + TAG_BYTES;
  const decipher = createDecipheriv(CIPHER, keyOf(ticket), sealed.subarray(0, NONCE_BYTES));
  decipher.setAuthTag(sealed.subarray(NONCE_BYTES, text));
  const json = Buffer.concat([decipher.update(sealed.subarray(text)), decipher.final()]);
  return JSON.parse(json.toString("utf8")) as Sealed;
}

/** A ticket has 256 random bits; the prefix keeps the key apart from the hash that is stored. */
function keyOf(ticket: string): Buffer {
  return createHash("sha256").update("grant of ").update(ticket, "utf8").digest();
}
