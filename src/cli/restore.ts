import { printable } from "../core/printable.ts";
import { restoreBackup, unfinishedRestores } from "../storage/backup/backup.ts";
import { systemFiles } from "../storage/file-operations.ts";
import { requireApart } from "./require-apart.ts";
import { readArguments } from "./arguments.ts";
import type { CliCommand } from "./command.ts";

export const restoreCommand: CliCommand = {
  name: "restore",
  usage: "BACKUP DIR",
  summary: "Put a backup back as the data directory DIR, which is new or empty",
  details: `Every byte is checked against the manifest first; a damaged backup is refused.
DIR is there as a whole or not at all. Tokens and keys of the backup are valid again.`,
  async run(args, { out }) {
    const { positionals } = readArguments(args, {}, ["BACKUP", "DIR"]);
    const [backup, directory] = positionals as [string, string];
    await requireApart(backup, directory, "DIR");
    const manifest = await restoreBackup(systemFiles, backup, directory);
    out(
      `Restored ${manifest.files.length} files of ${printable(manifest.created_at)} to ${printable(directory)}\n`,
    );
    for (const left of await unfinishedRestores(systemFiles, directory)) {
      out(
        `Left by another restore: ${printable(left)}. Remove it, unless that restore is still running\n`,
      );
    }
    return 0;
  },
};
