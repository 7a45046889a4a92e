import { join, resolve } from "node:path";
import { printable } from "../core/printable.ts";
import { quantity } from "../core/quantity.ts";
import type { CheckedLog, ProofEvidence } from "../proof/evidence.ts";
import { checkBackup } from "../storage/backup/backup.ts";
import { MANIFEST } from "../storage/backup/manifest.ts";
import { systemFiles } from "../storage/file-operations.ts";
import type { Finding, VerifyReport } from "../storage/files/verify/report.ts";
import { Layout } from "../storage/layout.ts";
import { ownerOf } from "../storage/lock.ts";
import type { DatabaseReport, TableFinding } from "../storage/postgres/database-report.ts";
import { readFileIfAny } from "../storage/snapshot.ts";
import { flag, readArguments, required, text, texts } from "./arguments.ts";
import { UsageError, type CliCommand, type Terminal } from "./command.ts";
import { readingDatabase } from "./database.ts";
import { readEvidence } from "./proof-evidence.ts";
import { databaseOfEnvironment } from "./storage-location.ts";
import { requireDataDirectory } from "./require-data-directory.ts";

export const verifyCommand: CliCommand = {
  name: "verify",
  usage: "DIR | --database URL [--key VKEY… [--checkpoint FILE]…] [--json]",
  summary: "Check a data directory, a backup or a database, and report every fault with its place",
  details: `  --json             one JSON object: ok, problems, notes, and what was looked at
  --database URL     a PostgreSQL database; without it and DIR, the one of DATABASE_URL
  --key VKEY         the public key of the logs, as NAME+ID+BASE64: also compares every event with
                     the signed checkpoints, and tells which was changed, removed, added or moved;
                     repeat it for logs that changed their key
  --checkpoint FILE  checkpoints that were kept elsewhere; repeatable

Checks every snapshot, every line of every log, the hashes of policies, the checksums of indexes
and the permissions of files, and reports unknown files. Changes nothing. No server may run on DIR:
verify a backup of it instead, in which every byte is also compared with the manifest.
In a database: every event's columns, id and counters, every JSON document, the partitions and the
hashes of policies. Servers may run meanwhile, and URL may name a standby.
Exit code 1 when anything is wrong. Notes, such as the remains of a crash, are not faults.`,
  async run(args, terminal) {
    const url = args.every((arg) => arg === "--json") ? databaseOfEnvironment() : undefined;
    const isDatabase = url !== undefined || args.some((arg) => /^--database(?:=|$)/.test(arg));
    const options = { json: flag, database: text, key: texts, checkpoint: texts };
    const { values, positionals } = readArguments(args, options, isDatabase ? [] : ["DIR"]);
    const { key, checkpoint = [] } = values;
    if (key === undefined && checkpoint.length > 0) {
      throw new UsageError("--checkpoint: needs --key, the key that signed it");
    }
    const evidence = key === undefined ? undefined : await readEvidence(key, checkpoint);
    const report = await (isDatabase
      ? verifyAt(url ?? required("database", values.database), terminal, evidence)
      : verifyIn(positionals[0] ?? "", evidence));
    terminal.out(values.json === true ? jsonOf(report) : textOf(report));
    return report.problems.length === 0 ? 0 : 1;
  },
};

/** Checks a data directory, or a backup of one with its manifest. */
async function verifyIn(
  directory: string,
  evidence: ProofEvidence | undefined,
): Promise<VerifyReport> {
  const layout = new Layout(resolve(directory));
  await requireDataDirectory(layout);
  const owner = await ownerOf(systemFiles, layout);
  if (owner !== undefined) {
    const wayOut = "stop that server, or verify a backup";
    throw new Error(`"${layout.root}" is in use by ${owner}: ${wayOut}`);
  }
  const { verifyDirectory } = await import("../storage/files/verify/directory.ts");
  const report = await verifyDirectory(layout, evidence);
  const manifest = join(layout.root, MANIFEST);
  if (await readFileIfAny(systemFiles, manifest)) {
    await report.reading(manifest, () => checkBackup(systemFiles, layout.root));
  }
  return report;
}

/** Checks a database. */
async function verifyAt(
  url: string,
  terminal: Terminal,
  evidence: ProofEvidence | undefined,
): Promise<DatabaseReport> {
  const { verifyDatabase } = await import("../storage/postgres/verify.ts");
  return readingDatabase(url, terminal, (database) => verifyDatabase(database, evidence));
}

function jsonOf({ problems, notes, ...looked }: VerifyReport | DatabaseReport): string {
  const { organizations, events } = looked;
  const files = "files" in looked ? { files: looked.files } : {};
  const logs = "logs" in looked && looked.logs.length > 0 ? { logs: looked.logs } : {};
  const ok = problems.length === 0;
  const report = { ok, problems, notes, organizations, ...files, events, ...logs };
  return `${printable(JSON.stringify(report))}\n`;
}

function textOf({ problems, notes, ...looked }: VerifyReport | DatabaseReport): string {
  const files = "files" in looked ? `${quantity(looked.files, "file")} of ` : "";
  const place = (finding: Finding | TableFinding): string =>
    "file" in finding ? finding.file : finding.table;
  const lines = [
    ...problems.map((finding) => `${place(finding)}: ${finding.problem}`),
    ...notes.map((finding) => `note: ${place(finding)}: ${finding.problem}`),
    ...("logs" in looked ? looked.logs.map(lineOf) : []),
    `${files}${quantity(looked.organizations, "organization")}, ${quantity(looked.events, "audit event")}: ` +
      (problems.length === 0 ? "all is well" : quantity(problems.length, "problem")),
  ];
  return lines.map((line) => `${printable(line)}\n`).join("");
}

/** The line about a log that was checked against checkpoints. */
function lineOf({ organization, log, first, events, covered }: CheckedLog): string {
  const removed = first === 0 ? "" : `, ${first} of them removed by retention`;
  return `${organization} ${log}: ${quantity(events, "event")}${removed}, ${covered} confirmed by checkpoints`;
}
