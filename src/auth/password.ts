/**
 * Password hashes: scrypt (RFC 7914), written as `$scrypt$ln=15,r=8,p=3$<salt>$<key>`, so that each
 * hash says how it is checked and the parameters may change while old hashes live on.
 */
import { randomBytes, scrypt, timingSafeEqual, type ScryptOptions } from "node:crypto";
import { BadInput, TooMany } from "../core/errors.ts";

/** Hashes passwords and compares them; one at a time, the rest wait in line. */
export interface Passwords {
  /** @throws TooMany when too many are waiting already */
  hash(password: string): Promise<string>;
  /**
   * Whether a password is the one that was hashed. Without a hash the answer is no, and takes as
   * long as one with a hash, so that nobody learns from the time which users exist.
   *
   * @throws TooMany when too many are waiting already
   */
  verify(password: string, hash: string | undefined): Promise<boolean>;
}

const DEFAULT_COST = 2 ** 15;
const BLOCK_SIZE = 8;
const PARALLELIZATION = 3;
const KEY_BYTES = 32;
const SALT_BYTES = 16;
const MAX_WAITING = 50;
const RETRY_AFTER_SECONDS = 10;
const MIN_CHARACTERS = 10;
const MAX_CHARACTERS = 256;

const STORED =
  /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9_-]{22,})\$([A-Za-z0-9_-]{43,})$/;

interface StoredHash {
  readonly cost: number;
  readonly blockSize: number;
  readonly parallelization: number;
  readonly salt: Buffer;
  readonly key: Buffer;
}

/**
 * Creates a hasher with a line of its own. `cost` is scrypt's N, a power of two; less than the
 * default is for tests only.
 */
export function createPasswords({ cost = DEFAULT_COST } = {}): Passwords {
  const enter = createLine();
  const fresh = (): StoredHash => ({
    cost,
    blockSize: BLOCK_SIZE,
    parallelization: PARALLELIZATION,
    salt: randomBytes(SALT_BYTES),
    key: randomBytes(KEY_BYTES),
  });
  const nobody = fresh();
  return {
    async hash(password) {
      const settings = fresh();
      const key = await enter(() => derive(password, settings));
      return format({ ...settings, key });
    },
    async verify(password, hash) {
      const stored = hash === undefined ? nobody : parse(hash);
      const key = await enter(() => derive(password, stored));
      return timingSafeEqual(key, stored.key) && stored !== nobody;
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

/** Lets one task run at a time: scrypt occupies the thread pool that also serves the disk. */
function createLine(): <T>(task: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  let present = 0;
  return (task) => {
    if (present > MAX_WAITING) {
      throw new TooMany(
        "Too many passwords are being checked: try again later",
        RETRY_AFTER_SECONDS,
      );
    }
    present++;
    const result = last.then(task).finally(() => present--);
    last = result.catch(() => {});
    return result;
  };
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
