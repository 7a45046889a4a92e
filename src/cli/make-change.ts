import { configFromEnvironment, configFromOptions, type Config } from "../config.ts";
import { createPasswords } from "../auth/password.ts";
import { askForChange } from "../control/client.ts";
import { CHANGES, type ChangeName } from "../control/changes.ts";
import type { Clock } from "../core/clock.ts";
import { createIds } from "../core/ids.ts";
import { createLog } from "../core/log.ts";
import { openEngine } from "../open-engine.ts";
import { Layout } from "../storage/layout.ts";

/** The settings for the directory that an option names; without the option, those of the environment. */
export function storedAt(directory: string | undefined): Config {
  return directory === undefined
    ? configFromEnvironment()
    : configFromOptions({ dataDir: directory });
}

/**
 * Makes a change in a data directory or a database. If a server runs on the directory, the server makes the
 * change; otherwise this process does, and holds the directory's lock meanwhile.
 *
 * @throws Error saying why the change was not made
 */
export async function makeChange(
  config: Config,
  name: ChangeName,
  body: object,
  now: Clock,
): Promise<unknown> {
  if (config.databaseUrl === undefined) {
    const answer = await askForChange(new Layout(config.dataDir).socket, name, body);
    if (answer !== undefined) return answer;
  }
  const silent = createLog("silent", now, () => {});
  const engine = await openEngine({ config, now, log: silent });
  try {
    const own = {
      commit: engine.commit,
      passwords: createPasswords({ now }),
      now,
      ids: createIds(now),
    };
    return await CHANGES[name]({ ...engine.stores, ...own }, body);
  } finally {
    await engine.close();
  }
}
