/** Checks the logs of an organization against signed checkpoints. */
import { join } from "node:path";
import { isObject } from "../../../core/validate.ts";
import { openCheckpoint, type Checkpoint } from "../../../proof/checkpoint.ts";
import { checkLog } from "../../../proof/log-check.ts";
import { verifierOf, type Verifier } from "../../../proof/note.ts";
import type { KnownCheckpoint, StoredLog } from "../../../proof/stored-log.ts";
import { TILE_WIDTH, tilePath } from "../../../proof/tiles.ts";
import { listDirectory } from "../../directories.ts";
import type { FileOperations } from "../../file-operations.ts";
import type { Layout } from "../../layout.ts";
import { endOfLog, readLines } from "../../log-lines.ts";
import { listNumbers, numberedPath } from "../../numbered-files.ts";
import { readFileIfAny } from "../../snapshot.ts";
import type { VerifyReport } from "./report.ts";

/** The trees of an organization, by the last part of their names. */
const TREES = ["audit", "activity"] as const;
type Tree = (typeof TREES)[number];

/** A key and checkpoints that come from outside of the data directory. */
export interface ProofEvidence {
  /** The public key. Its name is of one log; the key itself signs for all. */
  readonly verifier: Verifier;
  /** Checkpoints that were kept elsewhere, with the names of their files. */
  readonly kept: readonly (Checkpoint & { readonly file: string })[];
}

/** Checks that there is a log for each kept checkpoint. */
export function verifyPresence(
  layout: Layout,
  ids: readonly string[],
  { kept }: ProofEvidence,
  report: VerifyReport,
): void {
  for (const { file, origin } of kept) {
    const isHere = TREES.some((tree) => ids.some((id) => isOriginOf(origin, id, tree)));
    if (!isHere) {
      report.problem(layout.organizations, `the log ${origin}, of ${file}, is missing`);
    }
  }
}

/** Whether this is the name of a log of an organization: `<host>/<organization>/<tree>`. */
function isOriginOf(origin: string, id: string, tree: string): boolean {
  return origin.endsWith(`/${id}/${tree}`);
}

/** Checks both logs of one organization. */
export async function verifyProofs(
  files: FileOperations,
  layout: Layout,
  id: string,
  { verifier, kept }: ProofEvidence,
  report: VerifyReport,
): Promise<void> {
  const own = layout.organization(id);
  for (const tree of TREES) {
    const directory = tree === "audit" ? own.auditProof : own.activityProof;
    const path = join(directory, "checkpoints.jsonl");
    const stored =
      (await report.reading(path, () =>
        readCheckpoints(files, path, verifier, [id, tree], report),
      )) ?? [];
    const ofTree = kept.filter(({ origin }) => isOriginOf(origin, id, tree));
    const known: KnownCheckpoint[] = [
      ...stored.map((one) => ({ ...one, name: `the checkpoint of ${one.size} events` })),
      ...ofTree.map((one) => ({ ...one, name: `the checkpoint in ${one.file}` })),
    ];
    const log = storedLog(files, layout, id, tree, firstOf([...stored, ...ofTree]));
    await report.reading(log.directory, async () => {
      const { faults, size, covered } = await checkLog(log, known);
      for (const { file, problem } of faults) report.problem(file, problem);
      report.logs.push({ organization: id, log: tree, first: log.first, events: size, covered });
    });
  }
}

/** The stored checkpoints. One that the key did not sign is a problem, and is left out. */
async function readCheckpoints(
  files: FileOperations,
  path: string,
  { key }: Verifier,
  [id, tree]: readonly [id: string, tree: Tree],
  report: VerifyReport,
): Promise<readonly Checkpoint[]> {
  if ((await readFileIfAny(files, path)) === undefined) return [];
  const { size } = await files.stat(path);
  const end = await endOfLog(files, path, size);
  const found: Checkpoint[] = [];
  let number = 0;
  await readLines(files, path, (line, offset) => {
    if (offset >= end) return false;
    number++;
    try {
      const value: unknown = JSON.parse(line.toString("utf8"));
      const note = isObject(value) ? value["note"] : undefined;
      if (typeof note !== "string") throw new Error("is not a record of a checkpoint");
      const origin = note.slice(0, note.indexOf("\n"));
      if (!isOriginOf(origin, id, tree)) throw new Error(`is of the log ${origin}`);
      found.push(openCheckpoint(note, [verifierOf(origin, key)]));
    } catch (error) {
      report.problem(path, `line ${number}: ${(error as Error).message}`);
    }
    return undefined;
  });
  return found;
}

/** The first event that must be there: the newest checkpoint says it, in the line `first N`. */
function firstOf(checkpoints: readonly Checkpoint[]): number {
  const newest = checkpoints.toSorted((a, b) => a.size - b.size).at(-1);
  const line = newest?.extensions.find((one) => /^first \d{1,15}$/.test(one));
  return Number(line?.slice("first ".length) ?? 0);
}

function storedLog(
  files: FileOperations,
  layout: Layout,
  id: string,
  tree: Tree,
  first: number,
): StoredLog {
  const own = layout.organization(id);
  const proof = tree === "audit" ? own.auditProof : own.activityProof;
  const tileFile = (level: number, index: number): string =>
    join(proof, "tile", tilePath({ level, index, width: TILE_WIDTH }));
  return {
    first,
    directory: tree === "audit" ? own.audit : own.activityLog,
    tileFile,
    readTile: (level, index) => readFileIfAny(files, tileFile(level, index)),
    async readLines(take) {
      for (const path of await logFiles(files, layout, id, tree)) {
        const { size } = await files.stat(path);
        const end = await endOfLog(files, path, size);
        let number = 0;
        await readLines(files, path, (line, offset) => {
          if (offset >= end) return false;
          number++;
          if (line[0] !== 0) take(line, path, number); // a hole never was a line
          return undefined;
        });
      }
    },
  };
}

async function logFiles(
  files: FileOperations,
  layout: Layout,
  id: string,
  tree: Tree,
): Promise<readonly string[]> {
  const { audit, activityLog } = layout.organization(id);
  if (tree === "activity") {
    return (await listNumbers(files, activityLog)).map((file) => numberedPath(activityLog, file));
  }
  const names = await listDirectory(files, audit);
  return names.filter((name) => /^\d{12}\.jsonl$/.test(name)).map((name) => join(audit, name));
}
