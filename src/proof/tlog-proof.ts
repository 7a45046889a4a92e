/** Proofs of C2SP tlog-proof: a file that shows without the log that a line is part of it. */
import { decodeBase64 } from "./base64.ts";
import { openCheckpoint, parseSize, type Checkpoint } from "./checkpoint.ts";
import { FailedProof, MalformedProof } from "./errors.ts";
import { HASH_BYTES, leafHash, verifyInclusion } from "./merkle.ts";
import type { Verifier } from "./note.ts";

const FIRST_LINE = "c2sp.org/tlog-proof@v1";

/** The parts of a proof file. */
export interface TlogProof {
  /** Data of the application's own, which nothing signs. */
  readonly extra?: Buffer | undefined;
  readonly index: number;
  /** From the leaf's sibling to the root's child. */
  readonly hashes: readonly Buffer[];
  /** The signed note. */
  readonly checkpoint: string;
}

/** The text of a proof file. */
export function formatProof({ extra, index, hashes, checkpoint }: TlogProof): string {
  const lines = [
    FIRST_LINE,
    ...(extra ? [`extra ${extra.toString("base64")}`] : []),
    `index ${index}`,
    ...hashes.map((hash) => hash.toString("base64")),
  ];
  return `${lines.join("\n")}\n\n${checkpoint}`;
}

/**
 * Reads a proof file.
 *
 * @throws MalformedProof naming the line that is not as it should be
 */
export function parseProof(text: string): TlogProof {
  const end = text.indexOf("\n\n");
  if (end < 0) throw new MalformedProof("a proof has an empty line before the checkpoint");
  const [first, ...lines] = text.slice(0, end).split("\n");
  if (first !== FIRST_LINE) throw new MalformedProof(`line 1: expected "${FIRST_LINE}"`);
  const isExtra = lines[0]?.startsWith("extra ") ?? false;
  const extra = isExtra ? decodeBase64(lines.shift()?.slice("extra ".length) ?? "") : undefined;
  if (isExtra && !extra) throw new MalformedProof("extra: expected Base64");
  const [, digits = ""] = /^index (\d+)$/.exec(lines.shift() ?? "") ?? [];
  const index = parseSize(digits);
  if (index === undefined) throw new MalformedProof("index: expected a decimal number below 2^53");
  const hashes = lines.map((line, i) => {
    const hash = decodeBase64(line);
    if (hash?.length === HASH_BYTES) return hash;
    throw new MalformedProof(`hash ${i + 1} of the proof: expected 32 bytes in Base64`);
  });
  return { extra, index, hashes, checkpoint: text.slice(end + 2) };
}

/**
 * Verifies that a line is part of a log, by a proof file and the log's key, and without the log.
 *
 * @param verifiers the keys of the log, of which one has signed the checkpoint
 * @param line the line as it is stored and exported, without its line end
 * @returns the line's index, and the checkpoint that contains it
 * @throws MalformedProof if the text is not a proof; FailedProof if it does not prove the claim
 */
export function verifyProof(
  text: string,
  line: Uint8Array,
  ...verifiers: readonly Verifier[]
): { readonly index: number; readonly checkpoint: Checkpoint } {
  const { index, hashes, checkpoint: note } = parseProof(text);
  const checkpoint = openCheckpoint(note, verifiers);
  const { origin, size, root } = checkpoint;
  const other = verifiers.find(({ name }) => name !== origin);
  if (other !== undefined) {
    throw new FailedProof(`the checkpoint is of the log ${origin}, the key of ${other.name}`);
  }
  if (!verifyInclusion(leafHash(line), index, size, hashes, root)) {
    throw new FailedProof(
      `the line is not event ${index} of the ${size} in the checkpoint, or the proof was changed`,
    );
  }
  return { index, checkpoint };
}
