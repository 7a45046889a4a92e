/**
 * Checks logs against signed checkpoints. Hashing takes about as long as everything else that `verify` does, so large
 * logs are hashed in a thread of its own.
 */
import { startThread } from "../../../core/thread.ts";
import type { ProofEvidence } from "../../../proof/evidence.ts";
import type { FileOperations } from "../../file-operations.ts";
import { Layout } from "../../layout.ts";
import { verifyProofs } from "./proof.ts";
import { VerifyReport, type ProofFindings } from "./report.ts";

/** The organizations of a data directory whose logs are to be checked. */
export interface ProofJob {
  /** The data directory. */
  readonly root: string;
  readonly ids: readonly string[];
  readonly evidence: ProofEvidence;
}

/** Checks the logs of organizations on this thread. */
export async function checkProofs(
  files: FileOperations,
  { root, ids, evidence }: ProofJob,
): Promise<ProofFindings> {
  const report = new VerifyReport(root);
  for (const id of ids) await verifyProofs(files, new Layout(root), id, evidence, report);
  const { problems, notes, logs } = report;
  return { problems, notes, logs };
}

/** Checks the logs of organizations in a thread. */
export function checkProofsInThread(job: ProofJob): Promise<ProofFindings> {
  return new Promise((resolve, reject) => {
    const thread = startThread("storage/files/verify/proof-worker", { workerData: job });
    thread.once("message", resolve);
    thread.once("error", reject);
  });
}
