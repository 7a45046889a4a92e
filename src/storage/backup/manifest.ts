import { createHash } from "node:crypto";
import { jsonOrUndefined } from "../../core/json/json.ts";
import { isObject } from "../../core/validate.ts";

/** The name of the file that describes a backup. */
export const MANIFEST = "manifest.json";

const FORMAT = 1;

export interface ManifestFile {
  /** From the root of the backup, with `/` between names. */
  readonly path: string;
  readonly bytes: number;
  /** The SHA-256 of its bytes, in hexadecimal digits. */
  readonly sha256: string;
}

/** The files of a backup, and the time when it began. */
export interface Manifest {
  /** RFC 3339. */
  readonly created_at: string;
  /** The version of the program that took it. */
  readonly version: string;
  readonly files: readonly ManifestFile[];
}

/** Writes a manifest; its last field is the SHA-256 of the text without that field. */
export function manifestText(manifest: Manifest): string {
  const { created_at, version, files } = manifest;
  const content = { format: FORMAT, created_at, version, files };
  const sha256 = createHash("sha256").update(JSON.stringify(content)).digest("hex");
  return `${JSON.stringify({ ...content, sha256 }, null, 2)}\n`;
}

/**
 * Reads a manifest back. A manifest with any byte changed is refused: written again, it would differ.
 *
 * @throws Error naming the fault
 */
export function readManifest(bytes: Buffer): Manifest {
  const text = bytes.toString("utf8");
  const value = jsonOrUndefined(text);
  if (value === undefined) throw new Error("it is not JSON");
  if (!isObject(value)) throw new Error("it is not a manifest");
  const { format, created_at, version, files } = value;
  if (format !== FORMAT) throw new Error(`it is of format ${JSON.stringify(format)}`);
  if (typeof created_at !== "string" || typeof version !== "string" || !Array.isArray(files)) {
    throw new Error("it is not a manifest");
  }
  const manifest: Manifest = { created_at, version, files: files.map(fileOf) };
  if (manifestText(manifest) !== text) throw new Error("it was changed");
  refuseClashes(manifest);
  return manifest;
}

/** Refuses paths that no directory can have together. Only a made-up manifest has them. */
function refuseClashes({ files }: Manifest): void {
  const paths = new Set<string>();
  for (const { path } of files) {
    if (paths.has(path)) throw new Error(`it names ${path} twice`);
    paths.add(path);
  }
  for (const path of paths) {
    for (let at = path.indexOf("/"); at !== -1; at = path.indexOf("/", at + 1)) {
      const parent = path.slice(0, at);
      if (paths.has(parent)) throw new Error(`it names ${parent} as a file, and ${path} below it`);
    }
  }
}

/** The names of our files have no other characters, and so cannot lead out of the directory. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

/**
 * Files that no backup contains: the lock and the sockets of a server, which a start would take for those of another one,
 * the private key of the logs, the marks of unfinished work, and indexes, which are built from the logs. A directory of
 * such a name would be in their way, and so would another letter case on some file systems.
 */
const NEVER_AT_ROOT = /^(?:lock(?:\..*)?|socket|log-key|move\.json|manifest\.json)$/i;
const NEVER = /\.(?:tmp|idx)$/i;

function fileOf(value: unknown): ManifestFile {
  const { path, bytes, sha256 } = isObject(value) ? value : {};
  const isPath = typeof path === "string" && path.split("/").every((name) => NAME.test(name));
  if (!isPath || !Number.isSafeInteger(bytes) || typeof sha256 !== "string") {
    throw new Error("it names a file in an invalid way");
  }
  const names = path.split("/");
  const isNever = NEVER_AT_ROOT.test(names[0] ?? "") || names.some((name) => NEVER.test(name));
  if (isNever) throw new Error(`it names ${path}, which is in no backup`);
  return { path, bytes: bytes as number, sha256 };
}
