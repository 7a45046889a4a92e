import { createReadStream } from "node:fs";
import { buffer } from "node:stream/consumers";
import { InputError } from "./command.ts";

/** The largest file that is read as one text: V8 has no longer strings. */
const MAX_BYTES = 500 << 20;
const MIB = 1 << 20;

/** The limit of a file, and the help for its error messages. */
interface InputLimits {
  readonly maxBytes?: number;
  /** How to give a file that exists. */
  readonly wayOut?: string;
  /** The advice for a file that is too large. */
  readonly ifLarger?: string;
}

/**
 * Reads a file that a command is given, to a limit: it may be a link to a device, which never ends. It may also be a pipe,
 * as `<(…)` of a shell is; then its writer decides how long the command waits.
 *
 * @throws InputError naming the file
 */
export async function readInput(
  file: string,
  { maxBytes = MAX_BYTES, wayOut, ifLarger = "shorten it" }: InputLimits = {},
): Promise<Buffer> {
  // No more than shows that it is too large.
  const source = createReadStream(file, { end: maxBytes });
  const bytes = await buffer(source).catch((error: NodeJS.ErrnoException) => {
    const why = error.code === "ENOENT" ? "does not exist" : `cannot be read (${error.code})`;
    throw new InputError(`${file}: ${why}${wayOut ? `: ${wayOut}` : ""}`, { cause: error });
  });
  if (bytes.length <= maxBytes) return bytes;
  const most = maxBytes < MIB ? `${maxBytes / 1_024} KiB` : `${maxBytes / MIB} MiB`;
  throw new InputError(`${file}: is larger than ${most}: ${ifLarger}`);
}
