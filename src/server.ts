/** `node dist/server.js` serves; `signalbox serve` is the same. */
import { serve } from "./cli/serve.ts";
import { systemClock } from "./core/clock.ts";

await serve(systemClock, process.argv.slice(2));
