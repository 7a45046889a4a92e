import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { ROOT } from "./core/root.ts";

/** The package's version and the build's stamp; `unknown` if the build wrote none. */
interface BuildInfo {
  readonly version: string;
  readonly commit: string;
  readonly buildTime: string;
}

/** The file of the build's stamp, beside the programs. */
export const buildInfoPath = fileURLToPath(new URL("build-info.json", ROOT));

/** Reads the package's version and the build's stamp. */
export function readBuildInfo(): BuildInfo {
  const { version } = readJson(fileURLToPath(new URL("../package.json", ROOT)));
  const stamp = readJson(buildInfoPath);
  return {
    version: version ?? "unknown",
    commit: stamp["commit"] ?? "unknown",
    buildTime: stamp["build_time"] ?? "unknown",
  };
}

function readJson(path: string): Readonly<Record<string, string | undefined>> {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as Record<string, string | undefined>;
  } catch {
    return {};
  }
}
