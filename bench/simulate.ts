/**
 * Runs a fleet of runtimes against a running service, with the behaviour of real ones: each
 * registers, polls the active policy with its ETag, sends heartbeats, and reports the commands it
 * ran. It keeps reports that could not be delivered and sends them again later, with the same ids.
 *
 * Usage: npm run simulate -- --url URL [--runtimes 100] [--minutes 1] [--prefix /api/public]
 *                            [--key sbx_...] [--seed 1] [--pace 1] [--requests 10000000]
 *
 * `--pace 10` makes everything ten times as frequent. The exit code is 0 if every event was
 * acknowledged and nothing was refused, otherwise 1.
 */
import { setMaxListeners } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { createCommands } from "./commands.ts";
import { createRandom } from "../src/demo/random.ts";
import { Portal } from "./simulate/portal.ts";
import { Runtime } from "./simulate/runtime.ts";
import { Tally } from "./simulate/tally.ts";
import { Usage } from "./usage.ts";

const REPORT_MS = 10_000;
const MAX_RUNTIMES = 20_000;
const MAX_MINUTES = 7 * 24 * 60;
const usage = new Usage(
  "Usage: npm run simulate -- --url URL [--runtimes 100] [--minutes 1] [--prefix /api/public] " +
    "[--key sbx_...] [--seed 1] [--pace 1] [--requests 10000000]",
);

const { values } = usage.read({
  url: { type: "string" },
  runtimes: { type: "string", default: "100" },
  minutes: { type: "string", default: "1" },
  prefix: { type: "string", default: "/api/public" },
  key: { type: "string" },
  seed: { type: "string", default: "1" },
  pace: { type: "string", default: "1" },
  requests: { type: "string", default: "10000000" },
});
const { url = "", prefix, key } = values;
if (!/^https?:\/\/./i.test(url) || !URL.canParse(url)) {
  usage.fail("--url: expected the URL of a running service");
}
const count = usage.integer("runtimes", values.runtimes, 1, MAX_RUNTIMES);
const minutes = usage.number("minutes", values.minutes, 0.01, MAX_MINUTES);
const pace = usage.number("pace", values.pace, 0.01, 1_000);
const seed = usage.integer("seed", values.seed, 0, 2 ** 32 - 1);
const most = usage.integer("requests", values.requests, 1, Number.MAX_SAFE_INTEGER);

const tally = new Tally();
const portal = new Portal({ base: url.replace(/\/+$/, "") + prefix, key, tally, most });
const stopping = new AbortController();
setMaxListeners(0, stopping.signal); // each runtime waits for it in several places
process.once("SIGINT", () => stopping.abort());
const random = createRandom(seed);
const nextCommand = createCommands(createRandom(seed + 1));
const start = performance.now();
// Ids must differ from those of an earlier run, whose events would count as the same ones.
const run = Date.now().toString(36);

const lines = setInterval(() => console.log(tally.line(elapsed())), REPORT_MS);
const end = setTimeout(() => stopping.abort(), minutes * 60_000);
console.log(`${count} runtimes against ${url}${prefix} for ${minutes} minutes, pace ${pace}`);
// The first contacts are spread over a tenth of the time, a minute at most.
const spreadMs = Math.min(60_000, minutes * 6_000);
const fleet = Array.from({ length: count }, async (_, number) => {
  const own = createRandom(Math.floor(random() * 2 ** 32));
  const runtime = new Runtime({ number, run, portal, random: own, nextCommand, pace });
  await sleep(own() * spreadMs, undefined, { signal: stopping.signal }).catch(() => undefined);
  if (!stopping.signal.aborted) await runtime.live(stopping.signal);
  return runtime.unsent;
});
const unsent = (await Promise.all(fleet)).reduce((sum, left) => sum + left, 0);
clearInterval(lines);
clearTimeout(end);
console.log(tally.summary(elapsed(), unsent));
process.exitCode = unsent === 0 && tally.refused === 0 && tally.requests > 0 ? 0 : 1;

function elapsed(): number {
  return (performance.now() - start) / 1_000;
}
