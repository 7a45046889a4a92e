import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { listDirectory } from "../../directories.ts";
import type { FileOperations } from "../../file-operations.ts";
import { isOrganizationId, type Layout } from "../../layout.ts";
import { TEMPORARY_SUFFIX } from "../../snapshot.ts";
import type { VerifyReport } from "./report.ts";

const ROOT =
  /^(?:lock(?:\.after-[0-9a-f]+)?|secret|format\.json|catalog\.json|demo\.json|manifest\.json|socket)$/;
const ORGANIZATION =
  /^(?:(?:organization|users|api-keys|settings|providers|fleet)\.json|(?:fleet|activity)(?:-[1-9]\d*)?\.jsonl(?:\.damaged)?)$/;
const AUDIT = /^\d{12}\.(?:jsonl(?:\.damaged)?|idx)$/;
const POLICIES = /^(?:index\.json|[a-z0-9.-]+-[0-9a-f]{32}\.(?:yaml|json))$/;
const NOTHING = /^$/;

/** Checks that everything in a data directory belongs there, and to its owner alone. */
export async function verifyTree(
  files: FileOperations,
  layout: Layout,
  report: VerifyReport,
): Promise<void> {
  const tree = { files, report };
  await verifyMode(layout.root, report);
  await verifyNames(tree, layout.root, ROOT, ["organizations"]);
  const ids = await listDirectory(files, layout.organizations);
  await verifyNames(tree, layout.organizations, NOTHING, ids.filter(isOrganizationId));
  for (const id of ids.filter(isOrganizationId)) {
    const { directory, audit, policies } = layout.organization(id);
    await verifyNames(tree, directory, ORGANIZATION, ["audit", "policies"]);
    await verifyNames(tree, audit, AUDIT, []);
    await verifyNames(tree, policies, POLICIES, []);
  }
}

async function verifyNames(
  { files, report }: { readonly files: FileOperations; readonly report: VerifyReport },
  directory: string,
  known: RegExp,
  directories: readonly string[],
): Promise<void> {
  for (const name of await listDirectory(files, directory)) {
    const path = join(directory, name);
    if (name.endsWith(TEMPORARY_SUFFIX)) {
      report.note(path, "was being written when a server ended; the next start removes it");
    } else if (!known.test(name) && !directories.includes(name)) {
      report.problem(path, "is nothing that Signalbox has put there");
    } else if ((await verifyMode(path, report)) !== directories.includes(name)) {
      report.problem(path, directories.includes(name) ? "is no directory" : "is no file");
    }
  }
}

/** Checks who may read something; returns whether it is a directory. */
async function verifyMode(path: string, report: VerifyReport): Promise<boolean> {
  const found = await lstat(path);
  const expected = found.isDirectory() ? 0o700 : 0o600;
  const mode = found.mode & 0o777;
  if (found.isSymbolicLink()) report.problem(path, "is a symbolic link");
  else if (mode !== expected) {
    report.problem(path, `has mode ${octal(mode)}, expected ${octal(expected)}`);
  }
  report.files += found.isDirectory() ? 0 : 1;
  return found.isDirectory();
}

function octal(mode: number): string {
  return mode.toString(8).padStart(4, "0");
}
