/** The process around the service: settings from the environment, signals, exit codes. */
import { openApp } from "./app.ts";
import { configFromEnvironment } from "./config.ts";
import { systemClock } from "./index.ts";

try {
  const service = await openApp(configFromEnvironment(), systemClock);
  process.stdout.write(`Signalbox listening on ${service.url}\n`);
  let stopping = false;
  const stop = (): void => {
    if (stopping) process.exit(1); // asked twice: somebody is in a hurry
    stopping = true;
    service.close().then(
      () => process.exit(0),
      (error: unknown) => fail("could not stop cleanly", error),
    );
  };
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
} catch (error) {
  fail("cannot start", error);
}

function fail(what: string, error: unknown): never {
  const reason = error instanceof Error ? error.message : String(error);
  process.stderr.write(`Signalbox ${what}: ${reason}\n`);
  process.exit(1);
}
