import { basename, join } from "node:path";
import { isObject, validate } from "../../../core/validate.ts";
import { organization as organizationSchema } from "../../../organizations/schema.ts";
import { FORMAT, secretFault } from "../../data-directory.ts";
import { listDirectory } from "../../directories.ts";
import type { FileOperations } from "../../file-operations.ts";
import { policyFileName, policyRecordName, type Layout } from "../../layout.ts";
import { readFileIfAny, readSnapshot } from "../../snapshot.ts";
import { UndoQueue } from "../../undo-queue.ts";
import { FileKeys } from "../keys.ts";
import { PolicyRecords } from "../policy-index.ts";
import { digestOf } from "../policy-texts.ts";
import { readLogKey } from "../proof/log-key.ts";
import { isUnfinished } from "../organizations.ts";
import { FileProviderOverrides } from "../providers.ts";
import { FileRollouts } from "../rollouts.ts";
import { FileSettings } from "../settings.ts";
import { FileUsers } from "../users.ts";
import type { VerifyReport } from "./report.ts";

/** Checks the files at the root of a data directory. */
export async function verifyRoot(
  files: FileOperations,
  layout: Layout,
  report: VerifyReport,
): Promise<void> {
  await report.reading(layout.format, async () => {
    const marker = await readSnapshot(files, layout.format);
    const format = isObject(marker) ? marker["format"] : undefined;
    if (marker === undefined) report.problem(layout.format, "is missing");
    else if (format !== FORMAT) {
      report.problem(layout.format, `says format ${JSON.stringify(format)}, expected ${FORMAT}`);
    }
  });
  await report.reading(layout.secret, async () => {
    const secret = await readFileIfAny(files, layout.secret);
    const fault = secret && secretFault(secret);
    if (fault !== undefined) report.problem(layout.secret, fault);
  });
  await report.reading(layout.logKey, () => readLogKey(files, layout));
  await report.reading(layout.unfinishedMove, async () => {
    if (!(await readFileIfAny(files, layout.unfinishedMove))) return;
    report.problem(layout.unfinishedMove, "a move into this directory is not finished");
  });
  await report.reading(layout.catalogCopy, () => readSnapshot(files, layout.catalogCopy));
}

/** Checks the snapshots of one organization; `false` if its creation was not committed. */
export async function verifySnapshots(
  files: FileOperations,
  layout: Layout,
  id: string,
  report: VerifyReport,
): Promise<boolean> {
  const own = layout.organization(id);
  const record = await report.reading(own.organization, async () => {
    const snapshot = await readSnapshot(files, own.organization);
    if (snapshot === undefined) return null;
    const { id: said } = validate(organizationSchema, snapshot);
    if (said !== id)
      report.problem(own.organization, `id: is "${said}", not that of its directory`);
    return snapshot;
  });
  if (record === null) {
    const names = await listDirectory(files, own.directory);
    if (isUnfinished(names, own.users)) {
      report.note(own.directory, "was being created when a server ended, and never came to be");
      return false;
    }
    report.problem(own.organization, "is missing");
  }
  const only = [id];
  await report.reading(own.users, () => FileUsers.open(files, layout, new UndoQueue(), only));
  await report.reading(own.apiKeys, () => FileKeys.open(files, layout, only, () => {}));
  await report.reading(own.settings, () => new FileSettings(files, layout).list(id));
  await report.reading(own.providers, () => FileProviderOverrides.open(files, layout, only));
  await report.reading(own.rollouts, () => FileRollouts.open(files, layout, only, () => ""));
  await verifyPolicies(files, layout, id, report);
  return true;
}

/** Checks across all organizations that no email is used twice. */
export async function verifyEmails(
  files: FileOperations,
  layout: Layout,
  ids: readonly string[],
  report: VerifyReport,
): Promise<void> {
  const isReadable = !report.problems.some(({ file }) => file.endsWith("users.json"));
  if (!isReadable) return;
  await report.reading(layout.organizations, () =>
    FileUsers.open(files, layout, new UndoQueue(), ids),
  );
}

async function verifyPolicies(
  files: FileOperations,
  layout: Layout,
  id: string,
  report: VerifyReport,
): Promise<void> {
  const { policies, policyIndex } = layout.organization(id);
  const records = new PolicyRecords(files, layout, id);
  const read = await report.reading(policyIndex, () => records.read());
  if (!read) return;
  const names = new Set<string>([basename(policyIndex)]);
  for (const { policy, sha256, bytes } of read.versions.newestFirst()) {
    const name = policyFileName(policy.version);
    const path = join(policies, name);
    names.add(name);
    names.add(policyRecordName(policy.version));
    const text = await readFileIfAny(files, path);
    if (!text) report.problem(path, "is missing, and its record names it");
    else if (digestOf(text) !== sha256) {
      report.problem(path, "is not the text that was published: its record has another SHA-256");
    } else if (text.length !== bytes) {
      report.problem(policyIndex, `"${policy.version}".bytes: is not the text's length`);
    }
  }
  for (const name of await listDirectory(files, policies)) {
    if (!/\.(?:yaml|json)$/.test(name) || names.has(name)) continue;
    report.note(join(policies, name), "the index does not lead to it: its publishing was cut off");
  }
}
