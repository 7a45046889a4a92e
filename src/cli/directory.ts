import { configFromEnvironment, configFromOptions } from "../config.ts";
import { createPasswords } from "../auth/password.ts";
import { askForChange } from "../control/client.ts";
import { CHANGES, type ChangeName } from "../control/changes.ts";
import type { Clock } from "../core/clock.ts";
import { createIds } from "../core/ids.ts";
import { createLog } from "../core/log.ts";
import { openEngine } from "../stores.ts";
import { Layout } from "../storage/layout.ts";

/** The data directory: from the option, otherwise from the environment. */
export function dataDirectory(given: string | undefined): string {
  return given ?? configFromEnvironment().dataDir;
}

/**
 * Makes a change in a data directory: by the server that runs on it, otherwise in this process,
 * which locks the directory meanwhile.
 *
 * @throws Error saying why the change was not made
 */
export async function makeChange(
  dataDir: string,
  name: ChangeName,
  body: object,
  now: Clock,
): Promise<unknown> {
  const answer = await askForChange(new Layout(dataDir).socket, name, body);
  if (answer !== undefined) return answer;
  const silent = createLog("silent", now, () => {});
  const config = configFromOptions({ dataDir });
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
