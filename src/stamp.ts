/**
 * Run by the build: writes the commit and the time of the build beside the compiled files. The
 * commit is the argument (`npm run build -- COMMIT`), otherwise git's. Outside a git checkout it is
 * unknown; it is never guessed. The time is `SOURCE_DATE_EPOCH`, so that a commit can be built twice
 * with the same result, otherwise the present (https://reproducible-builds.org/specs/source-date-epoch).
 */
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { buildInfoPath } from "./build-info.ts";
import { sourceDateEpoch } from "./config.ts";
import { formatTimestamp } from "./core/time.ts";
import { SECOND_MS, systemClock } from "./core/clock.ts";

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

/** The time of the build in milliseconds. */
function buildTime(): number {
  const seconds = sourceDateEpoch();
  if (seconds === undefined) return systemClock();
  if (/^\d{1,11}$/.test(seconds)) return Number(seconds) * SECOND_MS;
  throw new Error(`SOURCE_DATE_EPOCH: "${seconds}" is not understood, expected whole seconds`);
}

const stamp = { commit: commit(), build_time: formatTimestamp(buildTime()) };
writeFileSync(buildInfoPath, `${JSON.stringify(stamp)}\n`);
