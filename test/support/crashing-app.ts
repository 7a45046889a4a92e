import { cp, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { App, type Settings } from "./start.ts";

// Files of the running process, which is this one: a killed process has no socket, and its lock
// counts for nothing.
const OF_THE_PROCESS = /^(?:lock\b.*|socket)$/;

/** A service over a copy of a directory or a database, whose process can crash at any moment. */
export class CrashingApp {
  app: App;
  readonly #settings: Settings;

  private constructor(app: App, settings: Settings) {
    this.app = app;
    this.#settings = settings;
  }

  /** Starts a service over a copy of a closed service's data, at that service's time. */
  static async over(source: App, settings: Settings): Promise<CrashingApp> {
    return new CrashingApp(await openedCopyOf(source, settings, "copy"), settings);
  }

  /** Continues with what is stored at present; pending writes of the process are lost. */
  async crash(): Promise<void> {
    const crashed = this.app;
    this.app = await openedCopyOf(crashed, this.#settings, "rename");
    await discard(crashed);
  }

  /** Stops the service and removes its data. */
  async end(): Promise<void> {
    await discard(this.app);
  }
}

async function openedCopyOf(source: App, settings: Settings, how: "copy" | "rename"): Promise<App> {
  const directory = await mkdtemp(join(tmpdir(), "signalbox-copy-"));
  for (const name of await readdir(source.dataDir)) {
    if (OF_THE_PROCESS.test(name)) continue;
    await cp(join(source.dataDir, name), join(directory, name), { recursive: true });
  }
  const copy = new App(directory, settings, undefined, await source.moveEngine(how));
  copy.advance(source.now - copy.now);
  await copy.open();
  return copy;
}

async function discard(app: App): Promise<void> {
  await app.close();
  await rm(app.dataDir, { recursive: true, force: true });
}
