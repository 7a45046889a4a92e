/**
 * Settings in the command line of a hook, as `--env "GUARD_DIR=/srv/guard"` before its name. An agent may be started
 * without the environment of `guard setup`. An assignment before the program would not work in the shell of Windows.
 * Only `hook` takes them.
 */
import { resolve } from "node:path";
import { guardDirectory, type Environment, type GuardSettings } from "./settings.ts";

const OPTION = "--env";

/** The environment and the words behind the pins of a command line. A pin replaces the variable of its name. */
export function withPins(
  words: readonly string[],
  env: Environment,
): { readonly env: Environment; readonly words: readonly string[] } {
  let at = 0;
  const pins: Record<string, string> = {};
  for (; words[at] === OPTION; at += 2) {
    const [name = "", ...value] = (words[at + 1] ?? "").split("=");
    pins[name] = value.join("=");
  }
  return at === 0 ? { env, words } : { env: { ...env, ...pins }, words: words.slice(at) };
}

/** The words of a command line that pin some variables. */
export function pinWords(pins: Environment, quoted: (word: string) => string): readonly string[] {
  return Object.entries(pins).flatMap(([name, value = ""]) => [OPTION, quoted(`${name}=${value}`)]);
}

/** The pin of the guard's directory, if it is not the default of the user. */
export function directoryPin(env: Environment): Environment {
  const { GUARD_DIR: _, XDG_STATE_HOME: __, ...usual } = env;
  const directory = guardDirectory(env);
  return directory === guardDirectory(usual) ? {} : { GUARD_DIR: resolve(directory) };
}

/**
 * The pins of hooks in managed settings, which the environment of the agent must not change: the mode, what happens if a
 * command cannot be decided, the service and the directory. The address is not pinned if it has a password, since others
 * can read the file. The name and the labels are those of a machine, and the key is a secret.
 */
export function managedPins(
  env: Environment,
  { observes, failsClosed, isEnabled, baseUrl, pathPrefix }: GuardSettings,
): Environment {
  const pin = directoryPin(env);
  return {
    // Empty variables count as absent: then it is the default directory of the user.
    ...(pin["GUARD_DIR"] === undefined ? { GUARD_DIR: "", XDG_STATE_HOME: "" } : pin),
    GUARD_MODE: observes ? "observe" : "enforce",
    GUARD_FAIL: failsClosed ? "closed" : "open",
    RUNTIME_PORTAL_ENABLED: String(isEnabled),
    ...(!baseUrl.includes("@") && { RUNTIME_PORTAL_BASE_URL: baseUrl }),
    RUNTIME_PORTAL_PATH_PREFIX: pathPrefix,
  };
}
