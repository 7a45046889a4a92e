/** The public key and the kept checkpoints that a command is given. */
import { readFile } from "node:fs/promises";
import { isObject } from "../core/validate.ts";
import { openCheckpoint } from "../proof/checkpoint.ts";
import type { ProofEvidence } from "../proof/evidence.ts";
import { parseVkey, verifierOf, type Verifier } from "../proof/note.ts";
import { InputError, UsageError } from "./command.ts";

/** The key of an option `--key`. */
export function readKey(vkey: string): Verifier {
  try {
    return parseVkey(vkey);
  } catch (error) {
    throw new UsageError(`--key: ${(error as Error).message}`, { cause: error });
  }
}

/**
 * Reads checkpoints that were kept elsewhere. A file has one or more signed notes, or the lines of a
 * `checkpoints.jsonl`.
 *
 * @throws InputError naming a file that has none, or one that the key did not sign
 */
export async function readEvidence(vkey: string, files: readonly string[]): Promise<ProofEvidence> {
  const verifier = readKey(vkey);
  const kept: ProofEvidence["kept"][number][] = [];
  for (const file of files) {
    const notes = notesIn((await readInput(file)).toString("utf8"));
    if (notes.length === 0) throw new InputError(`${file}: has no checkpoint`);
    for (const note of notes) {
      try {
        const signed = verifierOf(note.slice(0, note.indexOf("\n")), verifier.key);
        kept.push({ ...openCheckpoint(note, [signed]), file });
      } catch (error) {
        throw new InputError(`${file}: ${(error as Error).message}`, { cause: error });
      }
    }
  }
  return { verifier, kept };
}

/** Reads a file that a command is given. */
export async function readInput(file: string): Promise<Buffer> {
  return readFile(file).catch((error: NodeJS.ErrnoException) => {
    const why = error.code === "ENOENT" ? "does not exist" : `cannot be read (${error.code})`;
    throw new InputError(`${file}: ${why}`, { cause: error });
  });
}

/** The notes in a text: each ends with its last signature line. */
function notesIn(text: string): readonly string[] {
  if (text.startsWith("{")) return text.split("\n").flatMap(noteOfLine);
  return text.split(/(?<=^— .*\n)(?!— )\n*/m).filter((note) => note.trim() !== "");
}

function noteOfLine(line: string): readonly string[] {
  if (line.trim() === "") return [];
  try {
    const value: unknown = JSON.parse(line);
    if (isObject(value) && typeof value["note"] === "string") return [value["note"]];
  } catch {
    return []; // half a line, which a crash has left
  }
  return [line]; // refused as a note, with the reason
}
