import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Writes programs into a directory, each a line of the shell. */
export async function writePrograms(
  directory: string,
  lines: Readonly<Record<string, string>>,
): Promise<void> {
  for (const [name, line] of Object.entries(lines)) {
    await writeFile(join(directory, name), `#!/bin/sh\n${line}\n`);
    await chmod(join(directory, name), 0o755);
  }
}
