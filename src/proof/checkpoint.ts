/** Checkpoints of C2SP tlog-checkpoint: what a log signs about its tree. */
import { decodeBase64 } from "./base64.ts";
import { MalformedProof } from "./errors.ts";
import { HASH_BYTES } from "./merkle.ts";
import { openNote, type Verifier } from "./note.ts";

const FIRST = "first ";

/** The state of a tree: its root at a size. */
export interface Checkpoint {
  /** The name of the tree. */
  readonly origin: string;
  /** The number of leaves. */
  readonly size: number;
  readonly root: Buffer;
  /** Further lines, of the log's own meaning. */
  readonly extensions: readonly string[];
}

/** The text of a checkpoint, which is to be signed as a note. */
export function formatCheckpoint({ origin, size, root, extensions }: Checkpoint): string {
  const lines = [origin, String(size), root.toString("base64"), ...extensions];
  return lines.map((line) => `${line}\n`).join("");
}

/**
 * Reads the text of a checkpoint.
 *
 * @throws MalformedProof naming the line that is not as it should be
 */
export function parseCheckpoint(text: string): Checkpoint {
  const lines = text.split("\n");
  if (lines.pop() !== "") throw new MalformedProof("a checkpoint ends with a line end");
  const [origin = "", digits = "", encoded = "", ...extensions] = lines;
  if (lines.includes("") || lines.length < 3) {
    throw new MalformedProof("a checkpoint has an origin, a size and a root, and no empty line");
  }
  const size = parseSize(digits);
  if (size === undefined) {
    throw new MalformedProof(`tree size "${digits}": expected a decimal number below 2^53`);
  }
  const root = decodeBase64(encoded);
  if (root?.length !== HASH_BYTES) {
    throw new MalformedProof(`root hash "${encoded}": expected 32 bytes in Base64`);
  }
  return { origin, size, root, extensions };
}

/** Reads the checkpoint in a note without looking at its signatures. */
export function checkpointOf(note: string): Checkpoint {
  return parseCheckpoint(note.slice(0, note.lastIndexOf("\n\n") + 1));
}

/** The extension line that says that retention has removed the events before this one. */
export function firstLine(event: number): string {
  return `${FIRST}${event}`;
}

/** The first event that must still be there, by the line of `firstLine`; 0 without one. */
export function firstOf({ extensions }: Pick<Checkpoint, "extensions">): number {
  const own = extensions.filter((line) => line.startsWith(FIRST));
  return own.map((line) => parseSize(line.slice(FIRST.length))).find(Number.isInteger) ?? 0;
}

/**
 * Verifies a signed checkpoint: one of the verifiers signed it, under the tree's name.
 *
 * @throws MalformedProof if the text is not a checkpoint; FailedProof if no verifier signed it
 */
export function openCheckpoint(note: string | Buffer, verifiers: readonly Verifier[]): Checkpoint {
  return parseCheckpoint(openNote(note, verifiers).text);
}

/** A size or an index in decimal digits without leading zeros. */
export function parseSize(digits: string): number | undefined {
  const size = Number(digits);
  return /^(?:0|[1-9]\d{0,15})$/.test(digits) && Number.isSafeInteger(size) ? size : undefined;
}
