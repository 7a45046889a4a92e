/** Checks the files of the trees over an organization's logs as a server reads them, without a public key. */
import { LOGS } from "../../../proof/log-name.ts";
import { newPrivateKey, signerOf } from "../../../proof/note.ts";
import { SignedTree } from "../../../proof/signed-tree.ts";
import type { FileOperations } from "../../file-operations.ts";
import type { Layout } from "../../layout.ts";
import { partsAhead } from "../proof/follow-files.ts";
import { logParts } from "../proof/log-sources.ts";
import { TreeFiles } from "../proof/tree-files.ts";
import type { VerifyReport } from "./report.ts";

/**
 * Checks that a server can continue both trees of an organization: that it can read their positions, that the hashes
 * belong to the last checkpoint, and that the logs are not shorter than they were signed.
 */
export async function verifyTrees(
  files: FileOperations,
  layout: Layout,
  organization: string,
  report: VerifyReport,
): Promise<void> {
  for (const log of LOGS) {
    const named = { organization, log };
    const own = new TreeFiles(files, layout, named);
    const read = await report.reading(own.position, async () => ({ at: await own.readPosition() }));
    if (read === undefined) continue;
    await report.reading(own.directory, async () => {
      // Signatures are checked with the keys that the caller brings, so here any key will do.
      await SignedTree.open(own, signerOf("verify", newPrivateKey()));
      if (read.at !== undefined) partsAhead(await logParts(files, layout, named), read.at);
    });
  }
}
