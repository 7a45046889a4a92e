import { mkdirSync, realpathSync, rmSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { isObject } from "../core/validate.ts";
import {
  AGENT_SETTINGS,
  type AgentSettings,
  type JsonObject,
  withHooks,
} from "./agent-settings.ts";
import { Guard, type Machine } from "./machine.ts";
import { directoryPin, managedPins, pinWords } from "./pins.ts";
import { readRegular } from "./regular-file.ts";
import { replaceFile } from "./replace-file.ts";
import {
  type Environment,
  homeDirectory,
  MAX_SETTINGS_BYTES,
  readSettings,
  SAVED_VARIABLES,
  SETTINGS_FILE,
} from "./settings.ts";
import { syncOnce } from "./sync.ts";

/** The key of the saved settings for the files of `--managed`, by agent. The value is an object, so it is not read as a setting. */
const MANAGED = "managed";
/** The hooks of a project that is cloned elsewhere would fail, and most agents then run the command. */
const OF_THIS_MACHINE =
  "The hooks name paths of this machine: do not commit that file; run setup on each machine.\n";
const OPTIONS = {
  project: { type: "boolean" },
  user: { type: "boolean" },
  managed: { type: "string" },
  print: { type: "boolean" },
  remove: { type: "boolean" },
} as const;

/** Puts the guard's hooks into an agent's settings, saves the guard's own settings, and synchronises. */
export async function setup(args: readonly string[], machine: Machine): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: OPTIONS,
    allowPositionals: true,
  });
  const [agent = ""] = positionals;
  const settings = AGENT_SETTINGS.get(agent);
  if (!settings || positionals.length !== 1) {
    const known = [...AGENT_SETTINGS.keys()].join(", ");
    const found = positionals.length === 0 ? "none" : `"${positionals.join(" ")}"`;
    throw new Error(`setup: expected one agent of ${known}, found ${found}`);
  }
  const { env } = machine;
  const guardSettings = readSettings(env, true);
  const { failsClosed, faults } = guardSettings;
  if (faults.length > 0 && !values.remove) throw new Error(faults.join("; "));
  const { managed } = values;
  const pins = managed === undefined ? directoryPin(env) : managedPins(env, guardSettings);
  const command = values.remove ? undefined : commandLine(machine, agent, pins);
  const hooked = (old: JsonObject) => withHooks(old, agent, settings, command, failsClosed);
  if (values.print) {
    machine.out(textOf(hooked({}), 2));
    return 0;
  }
  const path = pathOf(values, settings);
  const changed = change(path, settings, hooked, values.remove === true);
  machine.out(`${path}: ${changed ? "changed" : "unchanged"}\n`);
  if (values.remove) return 0;
  if (changed && managed === undefined && !values.user) machine.out(OF_THIS_MACHINE);
  const guard = new Guard(machine);
  if (guard.fault !== undefined) throw new Error(guard.fault);
  const { directory } = guard.settings;
  saveSettings(directory, machine);
  if (managed !== undefined) saveManaged(directory, agent, path);
  const problems = await syncOnce(machine);
  for (const problem of problems) machine.error(`signalbox guard setup: ${problem}\n`);
  return 0;
}

/** The files that may have an agent's hooks; `doctor` looks into each. */
export function settingsFiles({ project, user }: AgentSettings): readonly string[] {
  return [resolve(project), join(homeDirectory(), user)];
}

/** The file of managed settings into which `setup` has put an agent's hooks; `undefined` if there is none. */
export function managedFile(directory: string, agent: string): string | undefined {
  try {
    const path = managedFiles(directory)[agent];
    return typeof path === "string" ? path : undefined;
  } catch {
    return undefined; // a file that cannot be read is reported with the settings
  }
}

function managedFiles(directory: string): JsonObject {
  const files = readJson(join(directory, SETTINGS_FILE))[MANAGED];
  return isObject(files) ? (files as JsonObject) : {};
}

function saveManaged(directory: string, agent: string, file: string): void {
  const path = join(directory, SETTINGS_FILE);
  const files = { ...managedFiles(directory), [agent]: file };
  replace(path, textOf({ ...readJson(path), [MANAGED]: files }, 2), 0o600);
}

/** Reads settings; `{}` if there is no such file. */
export function readJson(path: string): JsonObject {
  return parse(path, readIfAny(path) ?? "{}");
}

/**
 * The command line that starts the guard. Its paths are absolute, so that it works wherever the agent is started.
 *
 * @param pins the variables that it sets
 */
export function commandLine({ program }: Machine, agent: string, pins: Environment): string {
  const start = [process.execPath, ...process.execArgv, program];
  const words = [...start.map(inDoubleQuotes), ...pinWords(pins, inDoubleQuotes)];
  return `${words.join(" ")} hook ${agent}`;
}

/** Double quotes, since the shell of Windows knows no others; there a backslash separates folders. */
function inDoubleQuotes(word: string): string {
  const text = process.platform === "win32" ? word : word.replace(/["$`\\]/g, "\\$&");
  return `"${text}"`;
}

function pathOf(
  { user, managed }: { readonly user?: boolean; readonly managed?: string },
  settings: AgentSettings,
): string {
  if (managed !== undefined) return resolve(managed);
  return user ? join(homeDirectory(), settings.user) : resolve(settings.project);
}

/** Changes a file; returns false if it was right already. */
function change(
  path: string,
  { root }: AgentSettings,
  hooked: (old: JsonObject) => JsonObject,
  removes: boolean,
): boolean {
  const before = readIfAny(path);
  const old = parse(path, before ?? "{}");
  const made = hooked(old);
  if (before !== undefined && JSON.stringify(made) === JSON.stringify(old)) return false;
  if (removes && before === undefined) return false;
  const isEmpty = JSON.stringify({ ...root, ...made }) === JSON.stringify(root);
  if (removes && isEmpty) {
    rmSync(path);
    return true;
  }
  const indent = /^[ \t]+(?=")/m.exec(before ?? "")?.[0] ?? 2;
  replace(path, textOf(made, indent), 0o644);
  return true;
}

function saveSettings(directory: string, { env }: Machine): void {
  const path = join(directory, SETTINGS_FILE);
  const given = SAVED_VARIABLES.filter((name) => env[name]).map((name) => [name, env[name] ?? ""]);
  if (given.length === 0) return;
  replace(path, textOf({ ...readJson(path), ...Object.fromEntries(given) }, 2), 0o600);
}

/** Replaces a file, or the file that a link names. An existing file keeps its mode: it may contain secrets. */
function replace(path: string, text: string, mode: number): void {
  mkdirSync(dirname(path), { recursive: true });
  const known = statSync(path, { throwIfNoEntry: false });
  replaceFile(known ? realpathSync(path) : path, text, known ? known.mode & 0o777 : mode);
}

function textOf(value: JsonObject, indent: string | number): string {
  return `${JSON.stringify(value, null, indent)}\n`;
}

function parse(path: string, text: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(text.trim() === "" ? "{}" : text);
  } catch {
    throw new Error(`${path}: is not plain JSON; add the lines of --print by hand`);
  }
  if (isObject(value)) return value as JsonObject;
  throw new Error(`${path}: expected a JSON object`);
}

function readIfAny(path: string): string | undefined {
  try {
    return readRegular(path, MAX_SETTINGS_BYTES);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
