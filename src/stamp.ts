/**
 * Run by the build: writes the commit and the time of the build beside the compiled files. The
 * commit is the argument (`npm run build -- COMMIT`), otherwise git's. Outside a git checkout it is
 * unknown; it is never guessed.
 */
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { buildInfoPath } from "./build-info.ts";
import { formatTimestamp } from "./core/time.ts";
import { systemClock } from "./core/clock.ts";

function commit(): string | undefined {
  const given = process.argv[2];
  if (given) return given;
  try {
    const changes = git("status", "--porcelain");
    const head = git("rev-parse", "HEAD");
    return changes === "" ? head : `${head}-modified`;
  } catch {
    return undefined;
  }
}

function git(...args: readonly string[]): string {
  return execFileSync("git", args, { encoding: "utf8", stdio: "pipe" }).trim();
}

const stamp = { commit: commit(), build_time: formatTimestamp(systemClock()) };
writeFileSync(buildInfoPath, `${JSON.stringify(stamp)}\n`);
