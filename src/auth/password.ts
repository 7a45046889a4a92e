/**
 * Password hashes: scrypt (RFC 7914), written as `$scrypt$ln=15,r=8,p=3$<salt>$<key>`. Each hash
 * states its parameters, so they may change while old hashes remain valid.
 */
import { randomBytes, scrypt, timingSafeEqual, type ScryptOptions } from "node:crypto";
import { networkOf, widerNetworkOf } from "../core/address.ts";
import { requireAccepted, type Awaitable } from "../core/caller.ts";
import type { Clock } from "../core/clock.ts";
import { BadInput } from "../core/errors.ts";
import { setNewest } from "../core/set-newest.ts";
import { NEW_PASSWORD } from "./new-password.ts";
import { Loads } from "./loads.ts";
import { type Lane, PasswordLine, type LineParty } from "./password-line.ts";

/** The client of a request that needs a hash. */
interface Asker {
  /** The caller's IP address. */
  readonly address: string;
  /** The client; when it disconnects, its request is dropped from the line. */
  readonly client?: { readonly gone: AbortSignal };
}

/**
 * A request whose caller is signed in, or needs no credentials because authentication is off. Organizations
 * take turns, and within an organization its users.
 */
export interface Setter extends Asker {
  readonly organization: string;
  /** `undefined` when authentication is off. */
  readonly actor?: { readonly id: string } | undefined;
  readonly client?: {
    readonly gone: AbortSignal;
    acceptance(): () => Awaitable<boolean>;
  };
}

/**
 * A sign-in. Organizations cannot take turns here: the organization of an email is known only if a user has
 * that email.
 *
 * Invariant: the place in line depends on the text of the email and on the address, never on
 * whether a user has that email.
 */
export interface SignIn extends Asker {
  readonly email: string;
}

/** Hashes and verifies passwords, one at a time; other requests wait in line. */
export interface Passwords {
  /**
   * Hashes a password for storage, and checks the credentials of the setter again: they may have ended while the
   * request waited in line.
   *
   * @param setter `undefined` on the command line and at start
   * @throws Unauthenticated if they have ended
   * @throws TooMany when too many are waiting
   */
  hash(password: string, setter?: Setter): Promise<string>;
  /**
   * Whether a password matches a hash. If `hash` is `undefined`, the result is false after the same time, so
   * that the time does not reveal which users exist.
   *
   * @throws TooMany when too many are waiting
   */
  verify(password: string, hash: string | undefined, by: SignIn | Setter): Promise<boolean>;
}

export interface PasswordParts {
  readonly now: Clock;
  /** Scrypt's N, a power of two; lower than the default only in tests. */
  readonly cost?: number;
  /** Computes scrypt; replaced in tests only. */
  readonly derive?: typeof derive;
}

export const DEFAULT_COST = 2 ** 15;
export const BLOCK_SIZE = 8;
export const PARALLELIZATION = 3;
const KEY_BYTES = 32;
const SALT_BYTES = 16;
const NO_LONGER_ALLOWED = "The credentials ended before the password was hashed";
const MAX_KNOWN = 20_000;
/** The party of commands that change the data directory; they have neither network nor organization. */
const OPERATOR: readonly LineParty[] = [{ key: "operator" }];
const { minLength: MIN_CHARACTERS, maxLength: MAX_CHARACTERS } = NEW_PASSWORD;

const STORED =
  /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9_-]{22,})\$([A-Za-z0-9_-]{43,})$/;

/** The parameters, the salt and the key of a hash. */
export interface StoredHash {
  readonly cost: number;
  readonly blockSize: number;
  readonly parallelization: number;
  readonly salt: Buffer;
  readonly key: Buffer;
}

/** Creates a hasher with its own line. */
export function createPasswords(parts: PasswordParts): Passwords {
  const { now, cost = DEFAULT_COST, derive: compute = derive } = parts;
  const line = new PasswordLine(now);
  /** The networks where emails have signed in, forgotten at a restart; the one used longest ago comes first. */
  const known = new Map<string, true>();
  const guessedEmails = new Loads(now);
  const fresh = (): StoredHash => ({
    cost,
    blockSize: BLOCK_SIZE,
    parallelization: PARALLELIZATION,
    salt: randomBytes(SALT_BYTES),
    key: randomBytes(KEY_BYTES),
  });
  const nobody = fresh();

  async function signIn(
    { email: given, address, client }: SignIn,
    check: () => Promise<boolean>,
  ): Promise<boolean> {
    const email = given.toLowerCase();
    const network = networkOf(address);
    const place = `${network} ${email}`;
    let lane: Lane = guessedEmails.of(email) > 0 ? "guessed" : "fresh";
    let parties: readonly LineParty[] = [
      { key: network },
      { key: `wide ${widerNetworkOf(address)}`, isWide: true },
    ];
    if (known.has(place)) {
      // The email has signed in from this network before, so the cost counts for the email, not the network.
      lane = "known";
      parties = [{ key: `email ${email}` }];
    }
    const task = async (): Promise<boolean> => {
      const isRight = await check();
      if (isRight) {
        setNewest(known, place, true, MAX_KNOWN);
        line.succeeded(parties);
      } else {
        guessedEmails.add(email, 1);
        line.failed(parties);
      }
      return isRight;
    };
    return line.run(lane, parties, task, client?.gone);
  }

  return {
    async hash(password, setter) {
      const settings = fresh();
      const parties = setter ? settersOf(setter) : OPERATOR;
      const task = (): Promise<Buffer> => compute(password, settings);
      const key = await line.run("setting", parties, task, setter?.client?.gone);
      if (setter?.client) await requireAccepted(setter.client.acceptance(), NO_LONGER_ALLOWED);
      return format({ ...settings, key });
    },
    async verify(password, hash, by) {
      const stored = hash === undefined ? nobody : parse(hash);
      const check = async (): Promise<boolean> => {
        const key = await compute(password, stored);
        return timingSafeEqual(key, stored.key) && stored !== nobody;
      };
      if ("email" in by) return signIn(by, check);
      return line.run("setting", settersOf(by), check, by.client?.gone);
    },
  };
}

/**
 * Refuses a new password that is too short or too long, in code points.
 *
 * @throws BadInput naming the place
 */
export function checkNewPassword(password: string, place: string): void {
  const characters = [...password].length;
  if (characters < MIN_CHARACTERS || characters > MAX_CHARACTERS) {
    throw new BadInput(`${place}: expected ${MIN_CHARACTERS} to ${MAX_CHARACTERS} characters`);
  }
}

function settersOf({ organization, actor, address }: Setter): readonly LineParty[] {
  const user = actor ? `user ${actor.id}` : `setter ${networkOf(address)}`;
  return [{ key: `organization ${organization}` }, { key: user }];
}

function derive(password: string, stored: StoredHash): Promise<Buffer> {
  const { cost, blockSize, parallelization, salt, key } = stored;
  // Twice the memory of the algorithm. Node's default is a little less than the 128 * 2^15 * 8 that it needs.
  const maxmem = 2 * 128 * blockSize * (cost + parallelization);
  const options: ScryptOptions = { cost, blockSize, parallelization, maxmem };
  // Keyboards encode "é" in different ways, but the same characters must be the same password.
  const text = password.normalize("NFKC");
  return new Promise((resolve, reject) => {
    scrypt(text, salt, key.length, options, (error, derived) => {
      if (error) reject(error);
      else resolve(derived);
    });
  });
}

function format({ cost, blockSize, parallelization, salt, key }: StoredHash): string {
  const settings = `ln=${Math.log2(cost)},r=${blockSize},p=${parallelization}`;
  return `$scrypt$${settings}$${salt.toString("base64url")}$${key.toString("base64url")}`;
}

function parse(hash: string): StoredHash {
  const [, ln, r, p, salt = "", key = ""] = STORED.exec(hash) ?? [];
  if (ln === undefined) throw new Error("A stored password hash is damaged");
  return {
    cost: 2 ** Number(ln),
    blockSize: Number(r),
    parallelization: Number(p),
    salt: Buffer.from(salt, "base64url"),
    key: Buffer.from(key, "base64url"),
  };
}
