/** `node dist/server.js` serves; `signalbox serve` is the same. */
import { requireNode } from "./cli/require-node.ts";

requireNode();
const [{ serve }, { systemClock }] = await Promise.all([
  import("./cli/serve.ts"),
  import("./core/clock.ts"),
]);
await serve(systemClock, process.argv.slice(2));
