import type { ProofEvidence } from "../../../proof/evidence.ts";
import type { FileOperations } from "../../file-operations.ts";
import type { Layout } from "../../layout.ts";
import { verifyLogs } from "./logs.ts";
import { verifyPresence, verifyProofs } from "./proof.ts";
import { VerifyReport } from "./report.ts";
import { verifyEmails, verifyRoot, verifySnapshots } from "./snapshots.ts";
import { verifyTree } from "./tree.ts";

/**
 * Checks a whole data directory that no server uses. Nothing is changed: faults that a start would repair are
 * reported as notes.
 *
 * @param evidence the keys and the checkpoints to check the logs against; without them they are not
 */
export async function verifyDirectory(
  files: FileOperations,
  layout: Layout,
  evidence?: ProofEvidence,
): Promise<VerifyReport> {
  const report = new VerifyReport(layout.root);
  const ids = await verifyTree(files, layout, report);
  await verifyRoot(files, layout, report);
  for (const id of ids) {
    if (!(await verifySnapshots(files, layout, id, report))) continue;
    report.organizations++;
    await verifyLogs(files, layout, id, report);
    if (evidence) await verifyProofs(files, layout, id, evidence, report);
  }
  if (evidence) verifyPresence(layout, ids, evidence, report);
  await verifyEmails(files, layout, ids, report);
  return report;
}
