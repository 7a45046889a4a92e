/** The cost of a flood of exports without credentials: writes to the disk, and delays for others. */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Started } from "../processes.ts";
import { latencies, requireStatuses, resident, type Finding } from "./finding.ts";
import { askHealth } from "./health.ts";
import { timed } from "./wire.ts";

const FLOOD_MS = 10_000;
const CLIENTS = 16;
/** The longest filter that fits into a request line. */
const FILTER = "x".repeat(15_000);

/** 16 clients that export with a filter of 15 KB over and over; any web page could make browsers do this. */
export async function exportFlood(
  { url, pid }: Started,
  data: string,
): Promise<readonly Finding[]> {
  const before = bytesBelow(data);
  const endAsking = await askHealth(url);
  const begun = performance.now();
  const isOver = (): boolean => performance.now() - begun > FLOOD_MS;
  let exports = 0;
  const flood = Array.from({ length: CLIENTS }, async () => {
    while (!isOver()) {
      const { status } = await timed(`${url}/api/public/audit/export?q=${FILTER}`);
      requireStatuses("export", [status], [200, 429, 503]);
      exports++;
    }
  });
  await Promise.all(flood);
  const seconds = (performance.now() - begun) / 1_000;
  const health = await endAsking();
  const written = (bytesBelow(data) - before) / seconds / 2 ** 20;
  const what = `${Math.round(exports / seconds)} exports a second with a filter of 15 KB`;
  return [
    {
      what: `${what}: written each second`,
      measured: `${written.toFixed(2)} MiB`,
      value: written,
      target: 0.1,
      unit: "MiB",
    },
    latencies("/health beside them", health, 0.99, 100),
    resident("the service beside them", pid),
  ];
}

function bytesBelow(directory: string): number {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
}
