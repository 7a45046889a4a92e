/**
 * Password hashes: scrypt (RFC 7914), written as `$scrypt$ln=15,r=8,p=3$<salt>$<key>`, so that each
 * hash says how it is checked and the parameters may change while old hashes live on.
 */
import { randomBytes, scrypt, timingSafeEqual, type ScryptOptions } from "node:crypto";
import { networkOf, widerNetworkOf } from "../core/address.ts";
import type { Clock } from "../core/clock.ts";
import { BadInput } from "../core/errors.ts";
import { NEW_PASSWORD } from "./new-password.ts";
import { PasswordLine, type Party } from "./password-line.ts";

/** Who sets a password: one organization's requests wait for another's, and one network's. */
export interface Setter {
  readonly organization: string;
  /** The caller's IP address. */
  readonly address: string;
}

/** Whose password is said to be known, and where that is said. */
export interface Claim {
  readonly email: string;
  /** The caller's IP address. */
  readonly address: string;
}

/** Hashes passwords and compares them; one at a time, the rest wait in line. */
export interface Passwords {
  /**
   * Makes the hash under which a password is kept.
   *
   * @param setter absent at the command line and at start
   * @throws TooMany when too many are waiting
   */
  hash(password: string, setter?: Setter): Promise<string>;
  /**
   * Whether a password is the one that was hashed. Without a hash the answer is no, and takes as
   * long as one with a hash, so that the time does not tell which users exist.
   *
   * @throws TooMany when too many are waiting
   */
  verify(password: string, hash: string | undefined, claim: Claim): Promise<boolean>;
}

/** What a hasher is made of. */
export interface PasswordParts {
  readonly now: Clock;
  /** Scrypt's N, a power of two; less than the default is for tests only. */
  readonly cost?: number;
  /** Computes scrypt; another one than the system's in tests only. */
  readonly derive?: typeof derive;
}

export const DEFAULT_COST = 2 ** 15;
export const BLOCK_SIZE = 8;
export const PARALLELIZATION = 3;
const KEY_BYTES = 32;
const SALT_BYTES = 16;
/** Two sign-ins, which cost 2 each: more would let a user with many networks crowd newcomers out. */
const KNOWN_BONUS = 4;
const MAX_KNOWN = 20_000;
/** Stands for commands that change the data directory, with no network and no organization. */
const OPERATOR: readonly Party[] = [{ key: "operator" }];
const { minLength: MIN_CHARACTERS, maxLength: MAX_CHARACTERS } = NEW_PASSWORD;

const STORED =
  /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9_-]{22,})\$([A-Za-z0-9_-]{43,})$/;

/** A hash's parameters, its salt and its key. */
export interface StoredHash {
  readonly cost: number;
  readonly blockSize: number;
  readonly parallelization: number;
  readonly salt: Buffer;
  readonly key: Buffer;
}

/** Creates a hasher with a line of its own. */
export function createPasswords(parts: PasswordParts): Passwords {
  const { now, cost = DEFAULT_COST, derive: compute = derive } = parts;
  const line = new PasswordLine(now);
  const known = new KnownPlaces();
  const fresh = (): StoredHash => ({
    cost,
    blockSize: BLOCK_SIZE,
    parallelization: PARALLELIZATION,
    salt: randomBytes(SALT_BYTES),
    key: randomBytes(KEY_BYTES),
  });
  const nobody = fresh();
  return {
    async hash(password, setter) {
      const settings = fresh();
      const parties = setter ? partiesOf(setter) : OPERATOR;
      const key = await line.run("setting", parties, () => compute(password, settings));
      return format({ ...settings, key });
    },
    async verify(password, hash, claim) {
      const stored = hash === undefined ? nobody : parse(hash);
      const parties = networksOf(claim.address);
      const check = async (): Promise<boolean> => {
        const key = await compute(password, stored);
        const isRight = timingSafeEqual(key, stored.key) && stored !== nobody;
        if (isRight) known.add(claim);
        else line.failed("sign-in", parties);
        return isRight;
      };
      return line.run("sign-in", parties, check, known.has(claim) ? KNOWN_BONUS : 0);
    },
  };
}

/**
 * Refuses a password that is too short or too long to be set; characters are code points.
 *
 * @throws BadInput naming the place
 */
export function checkNewPassword(password: string, place: string): void {
  const characters = [...password].length;
  if (characters < MIN_CHARACTERS || characters > MAX_CHARACTERS) {
    throw new BadInput(`${place}: expected ${MIN_CHARACTERS} to ${MAX_CHARACTERS} characters`);
  }
}

function partiesOf({ organization, address }: Setter): readonly Party[] {
  return [{ key: `organization ${organization}` }, ...networksOf(address)];
}

function networksOf(address: string): readonly Party[] {
  return [{ key: networkOf(address) }, { key: widerNetworkOf(address), isWide: true }];
}

/** Where users have signed in before. It is forgotten at the next start, and beyond 20,000 pairs. */
class KnownPlaces {
  // The one that was seen longest ago comes first.
  readonly #pairs = new Set<string>();

  has(claim: Claim): boolean {
    return this.#pairs.has(pairOf(claim));
  }

  add(claim: Claim): void {
    const pair = pairOf(claim);
    this.#pairs.delete(pair);
    this.#pairs.add(pair);
    const oldest = this.#pairs.keys().next();
    if (this.#pairs.size > MAX_KNOWN && !oldest.done) this.#pairs.delete(oldest.value);
  }
}

function pairOf({ email, address }: Claim): string {
  return `${networkOf(address)} ${email.toLowerCase()}`;
}

function derive(password: string, stored: StoredHash): Promise<Buffer> {
  const { cost, blockSize, parallelization, salt, key } = stored;
  // Twice what the algorithm itself needs; Node's own limit is just below 128 * 2^15 * 8.
  const maxmem = 2 * 128 * blockSize * (cost + parallelization);
  const options: ScryptOptions = { cost, blockSize, parallelization, maxmem };
  // Keyboards differ in how they compose "é"; the same characters must make the same password.
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
