import { stat } from "node:fs/promises";
import { join } from "node:path";
import { listDirectory, listOrganizations } from "../../directories.ts";
import type { FileOperations } from "../../file-operations.ts";
import { GUIDE, type Layout } from "../../layout.ts";
import { oddEntries } from "../../odd-entries.ts";
import { TEMPORARY_SUFFIX } from "../../snapshot.ts";
import type { VerifyReport } from "./report.ts";

const ROOT =
  /^(?:lock(?:\.after-[0-9a-f]+|\.[0-9a-f]+\.socket)?|secret|log-key|format\.json|catalog\.json|demo\.json|move\.json|manifest\.json|socket)$/;
const ORGANIZATION =
  /^(?:(?:organization|users|api-keys|settings|providers|rollouts|fleet)\.json|(?:fleet|activity)(?:-[1-9]\d*)?\.jsonl(?:\.damaged)?)$/;
const AUDIT = /^\d{12}\.(?:jsonl(?:\.damaged)?|idx)$/;
const PROOF = /^(?:checkpoints\.jsonl|position\.json|hashes-\d)$/;
const POLICIES = /^(?:index\.json|[a-z0-9.-]+-[0-9a-f]{32}\.(?:yaml|json))$/;
const NOTHING = /^$/;

/** The disk, and the report about it. */
interface Tree {
  readonly files: FileOperations;
  readonly layout: Layout;
  readonly report: VerifyReport;
}

/**
 * Checks that everything in a data directory belongs there, and to its owner alone.
 *
 * @returns the organizations that can be checked, since all of their entries are files and directories
 */
export async function verifyTree(
  files: FileOperations,
  layout: Layout,
  report: VerifyReport,
): Promise<readonly string[]> {
  const tree = { files, layout, report };
  await verifyMode(layout.root, report);
  const top = await verifyNames(tree, layout.root, ROOT, ["organizations"]);
  if (top.has("organizations")) return [];
  const ids = await listOrganizations(files, layout);
  const odd = await verifyNames(tree, layout.organizations, NOTHING, ids);
  const whole: string[] = [];
  for (const id of ids.filter((one) => !odd.has(one))) {
    const { directory, audit, policies, auditProof, activityProof } = layout.organization(id);
    const folders = ["audit", "policies", "audit-proof", "activity-proof"];
    const own = await verifyNames(tree, directory, ORGANIZATION, folders);
    if (own.size > 0) continue;
    const logs = await verifyNames(tree, audit, AUDIT, []);
    const texts = await verifyNames(tree, policies, POLICIES, []);
    const trees = [auditProof, activityProof].map((one) => verifyNames(tree, one, PROOF, []));
    const inside = [logs, texts, ...(await Promise.all(trees))];
    if (inside.every((one) => one.size === 0)) whole.push(id);
  }
  return whole;
}

/** Checks the entries of a directory; returns those that are neither files nor directories. */
async function verifyNames(
  { files, layout, report }: Tree,
  directory: string,
  known: RegExp,
  directories: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const odd = await oddEntries(files, directory, layout);
  for (const name of await listDirectory(files, directory)) {
    const path = join(directory, name);
    if (known === ROOT && name === GUIDE) continue; // a person wrote it, so its mode is theirs
    const kind = odd.get(name);
    if (kind !== undefined) {
      report.odd(path, kind);
    } else if (name.endsWith(TEMPORARY_SUFFIX)) {
      report.note(path, "was being written when a server ended; the next start removes it");
    } else if (!known.test(name) && !directories.includes(name)) {
      report.problem(path, "is not a file of Signalbox");
    } else if ((await verifyMode(path, report)) !== directories.includes(name)) {
      report.problem(path, directories.includes(name) ? "is not a directory" : "is not a file");
    }
  }
  return odd;
}

/** Checks the mode of an entry; returns whether it is a directory. */
async function verifyMode(path: string, report: VerifyReport): Promise<boolean> {
  const found = await stat(path); // follows a link at the data directory itself
  const expected = found.isDirectory() ? 0o700 : 0o600;
  const mode = found.mode & 0o777;
  if (mode !== expected) {
    report.problem(path, `has mode ${octal(mode)}, expected ${octal(expected)}`);
  }
  if (!found.isDirectory()) {
    report.files++;
    report.bytes += found.size;
  }
  return found.isDirectory();
}

function octal(mode: number): string {
  return mode.toString(8).padStart(4, "0");
}
