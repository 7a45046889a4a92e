/** The document that a command of policies works on, and its problems. */
import { isUtf8 } from "node:buffer";
import { printable } from "../../core/printable.ts";
import { MAX_DOCUMENT_BYTES } from "../../policies/document.ts";
import { examine, type Examined } from "../../policies/examine.ts";
import type { PolicyDocument } from "../../policies/rules.ts";
import type { PolicyProblem } from "../../policies/schema.ts";
import { InputError, type Terminal } from "../command.ts";
import { readInput } from "../read-input.ts";

/**
 * Reads a document.
 *
 * @param what the kind of document, for messages
 * @throws InputError naming the file, if it cannot be read or cannot be a document
 */
export async function readDocument(
  file: string,
  what = "a policy document",
  maxBytes = MAX_DOCUMENT_BYTES,
): Promise<string> {
  const bytes = await readInput(file, { maxBytes, wayOut: `give the path of ${what}` });
  // Other bytes would be replaced, and the published text would not be the file's.
  if (!isUtf8(bytes)) throw new InputError(`${file}: is not UTF-8: save it in that encoding`);
  return bytes.toString("utf8");
}

/** Reads a document, and runs the checks of the service on it. */
export async function examineFile(file: string): Promise<Examined & { readonly yaml: string }> {
  const yaml = await readDocument(file);
  return { yaml, ...examine({ yaml, command: undefined }) };
}

/** Says that a document only observes. On the standard error: the output may be for a program. */
export function tellMode(document: PolicyDocument | undefined, { error }: Terminal): void {
  if (document?.mode === "observe") error("The document observes: it stops no command.\n");
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
