/** The document that a command of policies works on, and its problems. */
import { isUtf8 } from "node:buffer";
import { createReadStream } from "node:fs";
import { buffer } from "node:stream/consumers";
import { printable } from "../../core/printable.ts";
import { MAX_DOCUMENT_BYTES } from "../../policies/document.ts";
import { examine, type Examined } from "../../policies/examine.ts";
import type { PolicyProblem } from "../../policies/schema.ts";
import { InputError, type Terminal } from "../command.ts";

/**
 * Reads a document.
 *
 * @param what the kind of document, for messages
 * @throws InputError naming the file, if it cannot be read or cannot be a document
 */
export async function readDocument(file: string, what = "a policy document"): Promise<string> {
  // No more than shows that it is too large: in a repository it may be a link to a device, which never ends.
  const source = createReadStream(file, { end: MAX_DOCUMENT_BYTES });
  const bytes = await buffer(source).catch((error: NodeJS.ErrnoException) => {
    const why = error.code === "ENOENT" ? "does not exist" : `cannot be read (${error.code})`;
    throw new InputError(`${file}: ${why}: give the path of ${what}`, { cause: error });
  });
  if (bytes.length > MAX_DOCUMENT_BYTES) {
    throw new InputError(`${file}: is larger than 1 MiB: shorten it`);
  }
  // Other bytes would be replaced, and the published text would not be the file's.
  if (!isUtf8(bytes)) throw new InputError(`${file}: is not UTF-8: save it in that encoding`);
  return bytes.toString("utf8");
}

/** Reads a document, and runs the checks of the service on it. */
export async function examineFile(file: string): Promise<Examined & { readonly yaml: string }> {
  const yaml = await readDocument(file);
  return { yaml, ...examine({ yaml, command: undefined }) };
}

/** One line for each problem, in the form that editors and CI systems link to the place. */
export function tellProblems(
  file: string,
  problems: readonly PolicyProblem[],
  { error }: Terminal,
): void {
  for (const { line, column, message } of problems) {
    error(`${printable(`${file}:${line}:${column}: ${message}`)}\n`);
  }
}

/** Prints one JSON object. */
export function tellJson({ out }: Terminal, value: object): void {
  out(`${printable(JSON.stringify(value))}\n`);
}
