/** Checks the logs of an organization against signed checkpoints. */
import { join } from "node:path";
import { firstOf, openCheckpoint, type Checkpoint } from "../../../proof/checkpoint.ts";
import { UnknownSigner } from "../../../proof/errors.ts";
import { checkLog } from "../../../proof/log-check.ts";
import { verifierOf, type Verifier } from "../../../proof/note.ts";
import type { KnownCheckpoint, StoredLog } from "../../../proof/stored-log.ts";
import type { FileOperations } from "../../file-operations.ts";
import type { Layout } from "../../layout.ts";
import { endOfLog, readLines } from "../../log-lines.ts";
import { readFileIfAny } from "../../snapshot.ts";
import { logParts, treeDirectory, TREES, type TreeName } from "../proof/log-sources.ts";
import { readNote, TreeFiles } from "../proof/tree-files.ts";
import type { VerifyReport } from "./report.ts";

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
  for (const tree of TREES) {
    const path = join(treeDirectory(layout, id, tree), "checkpoints.jsonl");
    const stored =
      (await report.reading(path, () =>
        readCheckpoints(files, path, verifier, [id, tree], report),
      )) ?? [];
    const ofTree = kept.filter(({ origin }) => isOriginOf(origin, id, tree));
    const known: KnownCheckpoint[] = [
      ...stored.map((one) => ({ ...one, name: `the checkpoint of ${one.size} events` })),
      ...ofTree.map((one) => ({ ...one, name: `the checkpoint in ${one.file}` })),
    ];
    const log = storedLog(files, layout, id, tree, newestFirst([...stored, ...ofTree]));
    await report.reading(log.directory, async () => {
      const { faults, size, covered } = await checkLog(log, known);
      for (const { file, problem } of faults) report.problem(file, problem);
      report.logs.push({ organization: id, log: tree, first: log.first, events: size, covered });
    });
  }
}

/**
 * The stored checkpoints that the key signed. Those of another key, as after a restore, are only counted, unless there are no others.
 */
async function readCheckpoints(
  files: FileOperations,
  path: string,
  { key }: Verifier,
  [id, tree]: readonly [id: string, tree: TreeName],
  report: VerifyReport,
): Promise<readonly Checkpoint[]> {
  if ((await readFileIfAny(files, path)) === undefined) return [];
  const { size } = await files.stat(path);
  const end = await endOfLog(files, path, size);
  const found: Checkpoint[] = [];
  const others: string[] = [];
  let number = 0;
  await readLines(files, path, (line, offset) => {
    if (offset >= end) return false;
    number++;
    try {
      const note = readNote(line.toString("utf8"));
      const origin = note.slice(0, note.indexOf("\n"));
      if (!isOriginOf(origin, id, tree)) throw new Error(`is of the log ${origin}`);
      found.push(openCheckpoint(note, [verifierOf(origin, key)]));
    } catch (error) {
      const said = `line ${number}: ${(error as Error).message}`;
      if (error instanceof UnknownSigner) others.push(said);
      else report.problem(path, said);
    }
    return undefined;
  });
  const [first] = others;
  if (first !== undefined && found.length === 0) report.problem(path, first);
  else if (first !== undefined) {
    report.note(path, `${others.length} checkpoints of another key were not checked`);
  }
  return found;
}

/** The first event that must be there: the newest checkpoint says it. */
function newestFirst(checkpoints: readonly Checkpoint[]): number {
  const newest = checkpoints.toSorted((a, b) => a.size - b.size).at(-1);
  return newest === undefined ? 0 : firstOf(newest);
}

function storedLog(
  files: FileOperations,
  layout: Layout,
  id: string,
  tree: TreeName,
  first: number,
): StoredLog {
  const own = layout.organization(id);
  const stored = new TreeFiles(files, treeDirectory(layout, id, tree), layout.root);
  return {
    first,
    directory: tree === "audit" ? own.audit : own.activityLog,
    tileFile: (level) => stored.hashes(level),
    readTile: (level, index) => stored.readTile(level, index),
    async readLines(take) {
      for (const { path, end } of await logParts(files, layout, id, tree)) {
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
