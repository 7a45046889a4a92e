/** The settings of the guard: from the environment, otherwise from the file that `guard setup` saved. */
import { homedir, hostname, userInfo } from "node:os";
import { join } from "node:path";
import { checkedLabels, type Labels } from "../core/labels.ts";
import { readTrusted, Untrusted } from "./regular-file.ts";

/** Settings of the guard, checked. */
export interface GuardSettings {
  readonly directory: string;
  readonly name: string;
  /** The labels of this machine; `undefined` if the setting is absent. */
  readonly labels: Labels | undefined;
  /** Whether denied commands run anyway and are only reported. */
  readonly observes: boolean;
  /** Whether a command is denied when it cannot be decided. */
  readonly failsClosed: boolean;
  readonly isEnabled: boolean;
  /** The address of the service, the prefix of the API, and both together. */
  readonly baseUrl: string;
  readonly pathPrefix: string;
  readonly api: string;
  readonly apiKey: string | undefined;
  /** The variables with a value that is not understood, each with what would be right. */
  readonly faults: readonly string[];
}

/** The file of the saved settings. */
export const SETTINGS_FILE = "settings.json";
/** The largest file of settings that is read, of the guard or of an agent. */
export const MAX_SETTINGS_BYTES = 16 << 20;
/** The settings that `guard setup` saves, since agents run hooks without the shell's environment. */
export const SAVED_VARIABLES = [
  "RUNTIME_PORTAL_ENABLED",
  "RUNTIME_PORTAL_BASE_URL",
  "RUNTIME_PORTAL_PATH_PREFIX",
  "SIGNALBOX_API_KEY",
  "GUARD_NAME",
  "GUARD_LABELS",
  "GUARD_MODE",
  "GUARD_FAIL",
] as const;

export type Environment = Readonly<Record<string, string | undefined>>;

/** The directory of the guard's files: `GUARD_DIR`, by default in the user's state directory; empty without a home. */
export function guardDirectory(env: Environment): string {
  if (env["GUARD_DIR"]) return env["GUARD_DIR"];
  const state = env["XDG_STATE_HOME"] || (process.platform === "win32" && env["LOCALAPPDATA"]);
  if (state) return join(state, "signalbox-guard");
  const home = homeDirectory();
  return home === "" ? "" : join(home, ".local", "state", "signalbox-guard");
}

/** The user's home directory; empty if there is none, as for a user id without an entry in a container. */
export function homeDirectory(): string {
  try {
    return homedir();
  } catch {
    return "";
  }
}

/**
 * Reads the settings. A value that is not understood is a fault, and the stricter choice is taken: if the guard gave up,
 * agents would run every command.
 *
 * @param isTrusted whether the directory belongs to the user; otherwise saved settings are not read
 */
export function readSettings(env: Environment, isTrusted: boolean): GuardSettings {
  const directory = guardDirectory(env);
  const faults: string[] = [];
  const saved = isTrusted && directory !== "" ? savedSettings(directory, faults) : {};
  const value = (name: (typeof SAVED_VARIABLES)[number]) => env[name] || saved[name] || undefined;
  const baseUrl = (value("RUNTIME_PORTAL_BASE_URL") ?? "http://127.0.0.1:8080").replace(/\/+$/, "");
  const prefix = value("RUNTIME_PORTAL_PATH_PREFIX") ?? "/api/public";
  const pathPrefix = prefix.startsWith("/") ? prefix : `/${prefix}`;
  const either = (name: (typeof SAVED_VARIABLES)[number], usual: string, other: string): string => {
    const given = value(name) ?? usual;
    if (given !== usual && given !== other)
      faults.push(`${name}: was ${JSON.stringify(given)}, expected ${usual} or ${other}`);
    return given;
  };
  return {
    directory,
    name: value("GUARD_NAME") ?? hostname(),
    labels: labelsOf(value("GUARD_LABELS"), faults),
    observes: either("GUARD_MODE", "enforce", "observe") === "observe",
    failsClosed: either("GUARD_FAIL", "open", "closed") !== "open",
    faults,
    isEnabled: either("RUNTIME_PORTAL_ENABLED", "true", "false") !== "false",
    ...{ baseUrl, pathPrefix, api: baseUrl + pathPrefix },
    apiKey: value("SIGNALBOX_API_KEY"),
  };
}

/** The name of the user who runs this process. */
export function userName(env: Environment): string {
  try {
    return userInfo().username;
  } catch {
    return env["USER"] ?? "unknown"; // a user id without an entry, as in containers
  }
}

/** The saved settings. Of a file that cannot be read, only the strictest choice that it may contain is known. */
function savedSettings(directory: string, faults: string[]): Environment {
  try {
    const saved: unknown = JSON.parse(
      readTrusted(SETTINGS_FILE, join(directory, SETTINGS_FILE), MAX_SETTINGS_BYTES),
    );
    const pairs = Object.entries(saved as object).filter(([, value]) => typeof value === "string");
    return Object.fromEntries(pairs) as Environment;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return {};
    faults.push(
      error instanceof Untrusted
        ? error.message
        : `${SETTINGS_FILE}: cannot be read: mend it, or remove it and run signalbox guard setup`,
    );
    return { GUARD_FAIL: "closed" };
  }
}

/** Reads labels such as `env=staging,team=payments`. */
function labelsOf(text: string | undefined, faults: string[]): Labels | undefined {
  if (text === undefined) return undefined;
  const pairs = text.split(",").map((pair) => {
    const [key = "", ...value] = pair.split("=");
    return [key.trim(), value.join("=").trim()];
  });
  try {
    return checkedLabels(Object.fromEntries(pairs) as Labels, "GUARD_LABELS");
  } catch (error) {
    faults.push((error as Error).message);
    return undefined;
  }
}
