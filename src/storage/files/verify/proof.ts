/** Checks the logs of an organization against signed checkpoints. */
import { join } from "node:path";
import { readNote } from "../../../proof/checkpoint-lines.ts";
import { StoredCheckpoints, type ProofEvidence } from "../../../proof/evidence.ts";
import { LOGS, type NamedLog } from "../../../proof/log-name.ts";
import type { StoredLog } from "../../../proof/stored-log.ts";
import type { FileOperations } from "../../file-operations.ts";
import type { Layout } from "../../layout.ts";
import { endOfLog, readLines } from "../../log-lines.ts";
import { readFileIfAny } from "../../snapshot.ts";
import { logParts, treeDirectory } from "../proof/log-sources.ts";
import { TreeFiles } from "../proof/tree-files.ts";
import type { VerifyReport } from "./report.ts";

/** Checks both logs of one organization. */
export async function verifyProofs(
  files: FileOperations,
  layout: Layout,
  id: string,
  evidence: ProofEvidence,
  report: VerifyReport,
): Promise<void> {
  for (const log of LOGS) {
    const named = { organization: id, log };
    const path = join(treeDirectory(layout, named), "checkpoints.jsonl");
    const stored = new StoredCheckpoints(named, evidence, report, path);
    await report.reading(path, () => readCheckpoints(files, path, stored));
    const open = (first: number): StoredLog => storedLog(files, layout, named, first);
    const { directory } = open(0);
    await report.reading(directory, async () => {
      report.logs.push(await stored.check(open));
    });
  }
}

async function readCheckpoints(
  files: FileOperations,
  path: string,
  stored: StoredCheckpoints,
): Promise<void> {
  if ((await readFileIfAny(files, path)) === undefined) return;
  const { size } = await files.stat(path);
  const end = await endOfLog(files, path, size);
  let number = 0;
  const take = (line: Buffer): void =>
    stored.add(`line ${++number}`, () => readNote(line.toString("utf8")));
  await readLines(files, path, take, { end });
  stored.end();
}

function storedLog(
  files: FileOperations,
  layout: Layout,
  named: NamedLog,
  first: number,
): StoredLog {
  const { audit, activityLog } = layout.organization(named.organization);
  const stored = new TreeFiles(files, treeDirectory(layout, named), layout.root);
  return {
    first,
    unit: "line",
    directory: named.log === "audit" ? audit : activityLog,
    tileFile: (level) => stored.hashes(level),
    readTile: (level, index) => stored.readTile(level, index),
    async readLines(take) {
      for (const { path, end } of await logParts(files, layout, named)) {
        let number = 0;
        const takeOne = (line: Buffer): void => {
          number++;
          if (line[0] !== 0) take(line, path, number); // a hole never was a line
        };
        await readLines(files, path, takeOne, { end });
      }
    },
  };
}
