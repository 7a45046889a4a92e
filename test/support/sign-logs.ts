/** Writes the hashes and checkpoints of the logs in a data directory that no server uses. */
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { formatCheckpoint } from "../../src/proof/checkpoint.ts";
import { GrowingTree } from "../../src/proof/growing-tree.ts";
import { leafHash } from "../../src/proof/merkle.ts";
import { signerOf, signNote, type Signer } from "../../src/proof/note.ts";

const HOST = "signalbox.example.com";
const OWNED = { mode: 0o700, recursive: true } as const;

/** The signer of a log of the organization `default`. */
export function signerFor(log: string, key: Signer["privateKey"]): Signer {
  return signerOf(`${HOST}/default/${log}`, key);
}

interface LogFile {
  readonly name: string;
  readonly bytes: number;
  readonly lines: readonly string[];
}

/** The files of one log of the organization `default`, oldest first. */
async function filesOfLog(root: string, log: "audit" | "activity"): Promise<readonly LogFile[]> {
  const own = join(root, "organizations/default");
  const directory = log === "audit" ? join(own, "audit") : own;
  const pattern = log === "audit" ? /^\d+\.jsonl$/ : /^activity.*\.jsonl$/;
  const names = (await readdir(directory)).filter((name) => pattern.test(name)).sort();
  return Promise.all(
    names.map(async (name) => {
      const text = await readFile(join(directory, name), "utf8");
      const lines = text.split(/ ?\n/).filter((line) => line !== "");
      return { name, bytes: Buffer.byteLength(text), lines };
    }),
  );
}

/** The lines of one log of the organization `default`. */
export async function linesOfLog(root: string, log: "audit" | "activity"): Promise<string[]> {
  return (await filesOfLog(root, log)).flatMap(({ lines }) => lines);
}

/** The signed checkpoint of a log at a size. */
export function noteAt(
  lines: readonly string[],
  size: number,
  signer: Signer,
  extensions: readonly string[] = [],
): string {
  const tree = new GrowingTree(() => {});
  for (const line of lines.slice(0, size)) tree.append(leafHash(line));
  const checkpoint = { origin: signer.name, size, root: tree.root(), extensions };
  return signNote(formatCheckpoint(checkpoint), [signer]);
}

/** Writes hashes, and checkpoints at these sizes and at the last event. */
export async function signLog(
  root: string,
  log: "audit" | "activity",
  key: Signer["privateKey"],
  sizes: readonly number[] = [],
  lines?: readonly string[],
): Promise<void> {
  const stored = await filesOfLog(root, log);
  const own = lines ?? stored.flatMap(({ lines }) => lines);
  const directory = join(root, "organizations/default", `${log}-proof`);
  const levels = [Buffer.alloc(0)];
  const take = (level: number, hash: Buffer): void => {
    levels[level] = Buffer.concat([levels[level] ?? Buffer.alloc(0), hash]);
  };
  const tree = new GrowingTree(take);
  for (const line of own) {
    tree.append(leafHash(line));
    take(0, leafHash(line));
  }
  await mkdir(directory, OWNED);
  for (const [level, hashes] of levels.entries()) {
    await writeFile(join(directory, `hashes-${level}`), hashes, { mode: 0o600 });
  }
  const last = stored.at(-1);
  const starts: Record<string, number> = {};
  let start = 0;
  for (const { name, lines } of stored) {
    starts[name] = start;
    start += lines.length;
  }
  const position = { size: own.length, file: last?.name ?? "", offset: last?.bytes ?? 0, starts };
  await writeFile(join(directory, "position.json"), JSON.stringify(position), { mode: 0o600 });
  const records = [...sizes, own.length].map(
    (size) => `${JSON.stringify({ note: noteAt(own, size, signerFor(log, key)) })}\n`,
  );
  await writeFile(join(directory, "checkpoints.jsonl"), records.join(""), { mode: 0o600 });
}
