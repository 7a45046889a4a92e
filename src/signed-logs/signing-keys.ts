/** The keys that sign the logs: the one of the settings, or the one that the engine keeps. */
import type { KeyObject } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { ConfigError } from "../core/config-error.ts";
import { privateKeyOf } from "../proof/note.ts";

/** Reading for users who are neither the owner nor in the group, and writing for all but the owner. */
const TOO_OPEN = 0o026;
const MAX_FILE_BYTES = 64 << 10;

/** The keys that sign the logs. */
export interface SigningKeys {
  readonly key: KeyObject;
  /** The keys before it that the server has. They also sign the first checkpoint after one of theirs. */
  readonly earlier: readonly KeyObject[];
}

/** The settings of keys: each is PEM text, or the path of a file with it. */
export interface KeySettings {
  readonly logSigningKey: string | undefined;
  readonly logSigningKeyPrevious: string | undefined;
}

/** The key that the engine keeps. */
export interface KeptKey {
  read(): Promise<KeyObject | undefined>;
  readOrCreate(): Promise<KeyObject>;
}

/**
 * Reads the keys. One is created only if the settings have none.
 *
 * @throws ConfigError naming the setting, without a word of the key
 */
export async function readSigningKeys(settings: KeySettings, kept: KeptKey): Promise<SigningKeys> {
  const { logSigningKey, logSigningKeyPrevious } = settings;
  const given = await readKey("LOG_SIGNING_KEY", logSigningKey);
  const previous = await readKey("LOG_SIGNING_KEY_PREVIOUS", logSigningKeyPrevious);
  const key = given ?? (await kept.readOrCreate());
  const own = given && (await kept.read());
  const earlier: KeyObject[] = [];
  for (const one of [previous, own]) {
    if (one && ![key, ...earlier].some((other) => other.equals(one))) earlier.push(one);
  }
  return { key, earlier };
}

/**
 * Reads a private key that is given as PEM text or as the path of a file.
 *
 * @param name the name of the setting or option, for messages
 * @throws ConfigError without the text, which may be a key
 */
export async function readKey(
  name: string,
  given: string | undefined,
): Promise<KeyObject | undefined> {
  if (given === undefined) return undefined;
  const text = given.trimStart();
  // Files of environment variables cannot contain line ends.
  const pem = text.startsWith("-----BEGIN")
    ? text.replaceAll("\\n", "\n")
    : await readPem(name, given);
  try {
    return privateKeyOf(pem);
  } catch (error) {
    throw new ConfigError(`${name}: ${(error as Error).message}`);
  }
}

async function readPem(name: string, path: string): Promise<string> {
  try {
    const { mode, size } = await stat(path).then((found) => {
      if (!found.isFile()) throw new ConfigError(`${name}: expected a file, found something else`);
      return found;
    });
    if ((mode & TOO_OPEN) !== 0 && process.platform !== "win32") {
      const found = (mode & 0o777).toString(8).padStart(3, "0");
      throw new ConfigError(
        `${name}: the file is open to other users (mode ${found}), expected mode 600, or 640 for a group that may read it`,
      );
    }
    return size > MAX_FILE_BYTES ? "" : await readFile(path, "utf8");
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    const { code = "it cannot be read" } = error as NodeJS.ErrnoException;
    throw new ConfigError(
      `${name}: expected PEM text that begins with -----BEGIN, or the path of a file (${code})`,
    );
  }
}
