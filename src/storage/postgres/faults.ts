/** Classifies failures of the database: for the connection, for a transaction, and for the caller. */
import { InsufficientStorage, Refusal, Unavailable } from "../../core/errors.ts";

/** The part of the driver that distinguishes the database's own errors from all others. */
interface ErrorKinds {
  readonly DatabaseError: new (...parts: never[]) => Error & { readonly code?: string | undefined };
}

const RETRY_SECONDS = 2;

const SERIALIZATION_FAILURE = "40001";
const DEADLOCK = "40P01";
/** The statement took longer than its time limit, or was canceled by its client. */
export const CANCELED = "57014";
const DISK_FULL = "53100";
/** A lock was not free within the `lock_timeout` of the statement, the database or its user. */
export const LOCK_TIMEOUT = "55P03";

/** The whole class of a code. */
const CONNECTION = /^08|^57P0[1-5]$|^53[03]00$|^28/;
/** A standby, or a primary that has been fenced: the connection leads to the wrong server. */
export const READ_ONLY = "25006";
/** The limit of connections is reached: of the database, of the role, or of the server. */
export const NO_CONNECTION = "53300";

/** The words for the caller, by code. */
const WORDS: ReadonlyMap<string, string> = new Map([
  [CANCELED, "The database took too long to answer: try again"],
  [LOCK_TIMEOUT, "Another change held what this request needs for too long: try again"],
  [READ_ONLY, "The database is read-only at present, as a standby is: try again"],
  [NO_CONNECTION, "The database has no free connection at present: try again"],
]);

/** The code of an error of the database or of the operating system; for a refusal, the code of its cause. */
export function codeOf(error: unknown): string | undefined {
  const cause = error instanceof Refusal ? error.cause : error;
  return cause instanceof Error && "code" in cause && typeof cause.code === "string"
    ? cause.code
    : undefined;
}

/** Whether a repetition of the transaction may succeed. */
export function isToRepeat(error: unknown): boolean {
  const code = codeOf(error);
  return code === SERIALIZATION_FAILURE || code === DEADLOCK;
}

/** Whether the connection on which the error occurred cannot be used again. */
export function isBroken(error: unknown, { DatabaseError }: ErrorKinds): boolean {
  const cause = error instanceof Refusal ? error.cause : error;
  if (cause === undefined) return false;
  const code = codeOf(cause) ?? "";
  return !(cause instanceof DatabaseError) || CONNECTION.test(code) || code === READ_ONLY;
}

/** The error for the caller: refusals and defects unchanged, failures of the database by name. */
export function refusalFor(error: unknown, kinds: ErrorKinds): unknown {
  if (error instanceof Refusal) return error;
  const cause = { cause: error };
  const unavailable = (message: string): Unavailable =>
    Object.assign(new Unavailable(message, RETRY_SECONDS), cause);
  if (isToRepeat(error)) return unavailable("Another change came between: try again");
  const code = codeOf(error);
  const words = code === undefined ? undefined : WORDS.get(code);
  if (words !== undefined) return unavailable(words);
  if (code === DISK_FULL) {
    const message = "The disk of the database is full, so nothing was stored: make room";
    return Object.assign(new InsufficientStorage(message, 10), cause);
  }
  if (error !== undefined && !isBroken(error, kinds)) return error;
  return unavailable("The database cannot be reached at present: try again");
}

/** The refusal of a request that got no connection, such as to a database that is being restored. */
export function unreachable(error: unknown, kinds: ErrorKinds): unknown {
  const refusal = refusalFor(error, kinds);
  if (refusal instanceof Refusal) return refusal;
  return Object.assign(refusalFor(undefined, kinds) as Unavailable, { cause: error });
}

/** The refusal of a change whose outcome is unknown, since the connection was lost during the commit. */
export function outcomeUnknown(cause: unknown): Unavailable {
  const message =
    "The connection to the database was lost while the change was being committed: " +
    "it may have been made or not, look before you send it again";
  return Object.assign(new Unavailable(message, RETRY_SECONDS), { cause });
}
