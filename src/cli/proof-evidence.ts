/** The public keys and the kept checkpoints that a command is given. */
import { isObject } from "../core/validate.ts";
import { openCheckpoint } from "../proof/checkpoint.ts";
import type { ProofEvidence } from "../proof/evidence.ts";
import { parseVkey, verifierOf, type Verifier } from "../proof/note.ts";
import { InputError, UsageError } from "./command.ts";
import { readInput } from "./read-input.ts";

/** The keys of the options `--key`. */
export function readKeys(vkeys: readonly string[]): readonly Verifier[] {
  return vkeys.map((vkey) => {
    try {
      return parseVkey(vkey);
    } catch (error) {
      throw new UsageError(`--key: ${(error as Error).message}`, { cause: error });
    }
  });
}

/**
 * Reads checkpoints that were kept elsewhere. A file has one or more signed notes, or the lines of a
 * `checkpoints.jsonl`.
 *
 * @throws InputError naming a file that has none, or one that no key signed
 */
export async function readEvidence(
  vkeys: readonly string[],
  files: readonly string[],
): Promise<ProofEvidence> {
  const verifiers = readKeys(vkeys);
  const kept: ProofEvidence["kept"][number][] = [];
  const cut: ProofEvidence["cut"][number][] = [];
  for (const file of files) {
    const text = (await readInput(file)).toString("utf8");
    const notes = notesIn(text, (line) => cut.push({ file, line }));
    if (notes.length === 0) throw new InputError(`${file}: has no checkpoint`);
    for (const note of notes) {
      try {
        const origin = note.slice(0, note.indexOf("\n"));
        const ofLog = verifiers.map(({ key }) => verifierOf(origin, key));
        kept.push({ ...openCheckpoint(note, ofLog), file });
      } catch (error) {
        throw new InputError(`${file}: ${(error as Error).message}`, { cause: error });
      }
    }
  }
  return { verifiers, kept, cut };
}

/**
 * The notes in a text: each ends with its last signature line.
 *
 * @param isCut receives the number of a line that is cut off
 */
function notesIn(text: string, isCut: (line: number) => void): readonly string[] {
  if (text.startsWith("{")) {
    return text.split("\n").flatMap((line, i) => noteOfLine(line, () => isCut(i + 1)));
  }
  return text.split(/(?<=^— .*\n)(?!— )\n*/m).filter((note) => note.trim() !== "");
}

function noteOfLine(line: string, isCut: () => void): readonly string[] {
  if (line.trim() === "") return [];
  try {
    const value: unknown = JSON.parse(line);
    if (isObject(value) && typeof value["note"] === "string") return [value["note"]];
  } catch {
    isCut(); // half a line, which a crash has left
    return [];
  }
  return [line]; // refused as a note, with the reason
}
