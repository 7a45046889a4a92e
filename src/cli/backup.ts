import { readBuildInfo } from "../build-info.ts";
import { askForBackup } from "../control/client.ts";
import { printable } from "../core/printable.ts";
import { formatTimestamp } from "../core/time.ts";
import { writeBackup, type BackupSource } from "../storage/backup/backup.ts";
import { stageFiles } from "../storage/backup/staging.ts";
import { checkFormat } from "../storage/data-directory.ts";
import { systemFiles } from "../storage/file-operations.ts";
import { Layout } from "../storage/layout.ts";
import { acquireLock } from "../storage/lock.ts";
import { removeStrays } from "../storage/strays.ts";
import { requireApart } from "./require-apart.ts";
import { readArguments } from "./arguments.ts";
import type { CliCommand, Terminal } from "./command.ts";
import { requireDataDirectory } from "./require-data-directory.ts";

export const backupCommand: CliCommand = {
  name: "backup",
  usage: "DIR TARGET",
  summary: "Copy the data directory DIR as it is at one moment to TARGET, which is new or empty",
  details: `A server that runs on DIR keeps running. The copy has everything that it acknowledged before.
TARGET/manifest.json names every file with its size and SHA-256, and is written last.
The secret that signs tokens is in the copy: keep it as safe as DIR itself.`,
  async run(args, terminal) {
    const { positionals } = readArguments(args, {}, ["DIR", "TARGET"]);
    const [directory, target] = positionals as [string, string];
    const layout = new Layout(directory);
    await requireDataDirectory(layout);
    await requireApart(directory, target, "TARGET");
    const held = await askForBackup(layout.socket);
    if (!held) return backUpStopped(layout, target, terminal);
    await copy(held, target, terminal).finally(() => held.release());
    return 0;
  },
};

async function backUpStopped(layout: Layout, target: string, terminal: Terminal): Promise<number> {
  const lock = await acquireLock(systemFiles, layout, terminal.now);
  try {
    await removeStrays(systemFiles, layout);
    await checkFormat(systemFiles, layout);
    const staging = await stageFiles(systemFiles, layout, () => new Map());
    try {
      await copy(staging, target, terminal);
    } finally {
      await staging.release();
    }
    return 0;
  } finally {
    await lock.release();
  }
}

async function copy(
  { directory, files }: Pick<BackupSource, "directory" | "files">,
  target: string,
  { now, out }: Terminal,
): Promise<void> {
  const { version } = readBuildInfo();
  const source = { directory, files, created_at: formatTimestamp(now()), version };
  const manifest = await writeBackup(systemFiles, source, target);
  const bytes = manifest.files.reduce((sum, file) => sum + file.bytes, 0);
  out(`Copied ${manifest.files.length} files, ${bytes} bytes, to ${printable(target)}\n`);
}
