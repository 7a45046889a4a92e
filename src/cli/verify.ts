import { join, resolve } from "node:path";
import { printable } from "../core/printable.ts";
import { checkBackup } from "../storage/backup/backup.ts";
import { MANIFEST } from "../storage/backup/manifest.ts";
import { systemFiles } from "../storage/file-operations.ts";
import { verifyDirectory } from "../storage/files/verify/directory.ts";
import type { VerifyReport } from "../storage/files/verify/report.ts";
import { Layout } from "../storage/layout.ts";
import { ownerOf } from "../storage/lock.ts";
import { readFileIfAny } from "../storage/snapshot.ts";
import { readArguments } from "./arguments.ts";
import type { CliCommand } from "./command.ts";
import { requireDataDirectory } from "./existing.ts";

export const verifyCommand: CliCommand = {
  name: "verify",
  usage: "DIR [--json]",
  summary: "Check a whole data directory, or a backup of one, and say what is wrong and where",
  details: `  --json   one JSON object: ok, problems, notes, and what was looked at

Every snapshot, every line of every log, the policies' hashes, the checksums of indexes, who may
read what, and what does not belong there. Nothing is changed. No server may run on DIR: verify a
backup of it instead, of which every byte is compared with its manifest as well.
Exit code 1 when anything is wrong; notes, such as what a crash leaves, are not.`,
  async run(args, { out }) {
    const { values, positionals } = readArguments(args, { json: { type: "boolean" } }, ["DIR"]);
    const layout = new Layout(resolve(positionals[0] ?? ""));
    await requireDataDirectory(layout);
    const owner = await ownerOf(systemFiles, layout);
    if (owner !== undefined) {
      const wayOut = "stop that server, or verify a backup";
      throw new Error(`"${layout.root}" is in use by ${owner}: ${wayOut}`);
    }
    const report = await verifyDirectory(systemFiles, layout);
    if (await readFileIfAny(systemFiles, join(layout.root, MANIFEST))) {
      await report.reading(join(layout.root, MANIFEST), () =>
        checkBackup(systemFiles, layout.root),
      );
    }
    out(values.json === true ? jsonOf(report) : textOf(report));
    return report.problems.length === 0 ? 0 : 1;
  },
};

function jsonOf({ problems, notes, organizations, files, events }: VerifyReport): string {
  const ok = problems.length === 0;
  return `${printable(JSON.stringify({ ok, problems, notes, organizations, files, events }))}\n`;
}

function textOf({ problems, notes, organizations, files, events }: VerifyReport): string {
  const lines = [
    ...problems.map(({ file, problem }) => `${file}: ${problem}`),
    ...notes.map(({ file, problem }) => `note: ${file}: ${problem}`),
    `${files} files of ${organizations} organizations, ${events} audit events: ` +
      (problems.length === 0 ? "all is well" : `${problems.length} problems`),
  ];
  return lines.map((line) => `${printable(line)}\n`).join("");
}
