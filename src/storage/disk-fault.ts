/** Describes failed file operations, and the way to fix them. */

interface Fault {
  readonly what: string;
  readonly wayOut: string;
}

const CLOSED: Fault = {
  what: "may not be read or written by this user",
  wayOut: "run as its owner, or choose another path",
};
const FILE: Fault = { what: "is a file, or is inside a file", wayOut: "choose a directory" };
const FULL: Fault = {
  what: "cannot be written, there is no space left",
  wayOut: "free some space, or choose another path",
};
const TOO_MANY: Fault = {
  what: "cannot be opened, too many files are open",
  wayOut: "raise the limit (ulimit -n), or close some",
};

const FAULTS: ReadonlyMap<string, Fault> = new Map([
  ["EACCES", CLOSED],
  ["EPERM", CLOSED],
  ["EROFS", { what: "is on a read-only file system", wayOut: "choose another path" }],
  ["ENOSPC", FULL],
  ["EDQUOT", FULL],
  ["ENOTDIR", FILE],
  ["EEXIST", FILE],
  ["EISDIR", { what: "is a directory where a file is expected", wayOut: "move it away" }],
  ["ENOENT", { what: "does not exist and cannot be created", wayOut: "choose another path" }],
  ["ENAMETOOLONG", { what: "has too long a name", wayOut: "choose another path" }],
  ["ELOOP", { what: "is a link to itself", wayOut: "give the path of its target" }],
  ["EMFILE", TOO_MANY],
  ["ENFILE", TOO_MANY],
  ["EIO", { what: "cannot be read or written by the disk", wayOut: "check the disk" }],
]);

/**
 * A sentence about an error of a file operation, with the place, the system's code and the way out;
 * `undefined` for every other error. A full disk is described even if its place is not known.
 *
 * @param place the path to name instead of the error's path; errors of open files have no path
 */
export function describeDiskFault(error: unknown, place?: string): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code = "", path, address } = error as NodeJS.ErrnoException & { address?: string };
  const fault = FAULTS.get(code);
  const where = place ?? path ?? address; // the address of a socket is a path, too
  if (fault === undefined || (where === undefined && fault !== FULL)) return undefined;
  return `${where === undefined ? "A file" : `"${where}"`} ${fault.what} (${code}): ${fault.wayOut}`;
}

/** Turns the error of a file operation into a sentence about `place`; returns every other error unchanged. */
export function faultAt(place: string, error: unknown): unknown {
  const said = describeDiskFault(error, place);
  return said === undefined ? error : new Error(said, { cause: error });
}
