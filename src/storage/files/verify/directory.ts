import { reportKept, type ProofEvidence } from "../../../proof/evidence.ts";
import { blockingFiles, type FileOperations } from "../../file-operations.ts";
import type { Layout } from "../../layout.ts";
import { verifyLogs } from "./logs.ts";
import { checkProofs, checkProofsInThread } from "./proof-thread.ts";
import { VerifyReport } from "./report.ts";
import { verifyEmails, verifyRoot, verifySnapshots } from "./snapshots.ts";
import { verifyTree } from "./tree.ts";
import { verifyTrees } from "./trees.ts";

/** For fewer bytes than this, starting a thread takes longer than the work. */
const WORTHWHILE_BYTES = 16 << 20;

/**
 * Checks a whole data directory that no server uses. Nothing is changed: faults that a start would repair are
 * reported as notes.
 *
 * @param evidence the keys and the checkpoints to check the logs against; without them they are not
 * @param worthwhileBytes the least bytes for which a thread is started
 */
export async function verifyDirectory(
  layout: Layout,
  evidence?: ProofEvidence,
  worthwhileBytes = WORTHWHILE_BYTES,
): Promise<VerifyReport> {
  const files = blockingFiles;
  const report = new VerifyReport(layout.root);
  const ids = await verifyTree(files, layout, report);
  await verifyRoot(files, layout, report);
  const created: string[] = [];
  for (const id of ids) {
    if (!(await verifySnapshots(files, layout, id, report))) continue;
    created.push(id);
    await verifyTrees(files, layout, id, report);
  }
  report.organizations = created.length;
  const job = evidence && { root: layout.root, ids: created, evidence };
  const isLarge = report.bytes >= worthwhileBytes;
  const [proofs] = await Promise.all([
    job && (isLarge ? checkProofsInThread(job) : checkProofs(files, job)),
    verifyAllLogs(files, layout, created, report),
  ]);
  if (proofs) report.add(proofs);
  if (evidence) reportKept(evidence, ids, report, layout.organizations);
  await verifyEmails(files, layout, ids, report);
  return report;
}

async function verifyAllLogs(
  files: FileOperations,
  layout: Layout,
  ids: readonly string[],
  report: VerifyReport,
): Promise<void> {
  for (const id of ids) await verifyLogs(files, layout, id, report);
}
