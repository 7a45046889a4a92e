/** Describes refused file operations, with the way to mend them. */

interface Fault {
  readonly what: string;
  readonly wayOut: string;
}

const CLOSED: Fault = {
  what: "may not be read or written by this user",
  wayOut: "be the user whose it is, or name another place",
};
const FILE: Fault = { what: "is a file, or lies in one", wayOut: "name a directory" };
const FULL: Fault = {
  what: "cannot be written, there is no space left",
  wayOut: "free some, or name another place",
};
const TOO_MANY: Fault = {
  what: "cannot be opened, too many files are open",
  wayOut: "raise the limit (ulimit -n), or close some",
};

const FAULTS: ReadonlyMap<string, Fault> = new Map([
  ["EACCES", CLOSED],
  ["EPERM", CLOSED],
  ["EROFS", { what: "lies on a read-only file system", wayOut: "name another place" }],
  ["ENOSPC", FULL],
  ["EDQUOT", FULL],
  ["ENOTDIR", FILE],
  ["EEXIST", FILE],
  ["EISDIR", { what: "is a directory where a file is expected", wayOut: "move it away" }],
  ["ENOENT", { what: "cannot be found or made", wayOut: "name another place" }],
  ["ENAMETOOLONG", { what: "is too long a name", wayOut: "name another place" }],
  ["ELOOP", { what: "is a link that leads to itself", wayOut: "name what it should lead to" }],
  ["EMFILE", TOO_MANY],
  ["ENFILE", TOO_MANY],
  ["EIO", { what: "cannot be read or written by the disk", wayOut: "look after the disk" }],
]);

/**
 * A sentence about an error of a file operation, with the place, the system's code and the way out;
 * `undefined` for every other error.
 *
 * @param place the place to name, instead of the one in the error; errors of open files name none
 */
export function describeDiskFault(error: unknown, place?: string): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code = "", path, address } = error as NodeJS.ErrnoException & { address?: string };
  const fault = FAULTS.get(code);
  const where = place ?? path ?? address; // the address of a socket is a path, too
  if (fault === undefined || where === undefined) return undefined;
  return `"${where}" ${fault.what} (${code}): ${fault.wayOut}`;
}

/** The error of a file operation as a sentence about `place`; every other error as it is. */
export function faultAt(place: string, error: unknown): unknown {
  const said = describeDiskFault(error, place);
  return said === undefined ? error : new Error(said, { cause: error });
}
