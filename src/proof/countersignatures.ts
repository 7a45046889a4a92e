/** Signatures of others on a note, such as those of witnesses (C2SP tlog-cosignature). */
import { MalformedProof } from "./errors.ts";
import { parseSignature } from "./note.ts";

/** C2SP signed-note: readers accept at least this many signatures on a note, and may refuse more. */
const MOST = 16;

/**
 * Puts the signatures of others on a note, in place of those it has.
 *
 * @param note a note that the log of this name signed
 * @param answer lines of signatures, as a witness answers them; they are not verified
 * @returns `undefined` if the answer is anything else, has no signature of another name, or more than fit on a note: a
 *   wrong signature under the log's own name would make the note invalid
 */
export function countersigned(note: string, name: string, answer: string): string | undefined {
  const lines = answer.split("\n");
  if (lines.pop() !== "" || lines.length === 0 || lines.length > MOST) return undefined;
  if (!lines.every(isSignature)) return undefined;
  const isOwn = (line: string): boolean => line.startsWith(`— ${name} `);
  const others = lines.filter((line) => !isOwn(line));
  const end = note.lastIndexOf("\n\n") + 2;
  const own = note.slice(end).split("\n").filter(isOwn);
  if (others.length === 0 || own.length + others.length > MOST) return undefined;
  return note.slice(0, end) + [...own, ...others].map((line) => `${line}\n`).join("");
}

function isSignature(line: string): boolean {
  try {
    parseSignature(line);
    return true;
  } catch (error) {
    if (error instanceof MalformedProof) return false;
    throw error;
  }
}
