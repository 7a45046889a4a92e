/** An app that signs its logs when it stops, and events for several segments. */
import { ADMIN_SETTINGS, type App } from "./start.ts";

export const SETTINGS = {
  ...ADMIN_SETTINGS,
  ...{ checkpointSeconds: 86_400, auditSegmentBytes: 64 << 10 },
  baseUrl: "https://signalbox.example.com/portal",
};

/** Reports events in batches of 50. */
export async function report(app: App, count: number): Promise<void> {
  const events = Array.from({ length: 50 }, (_, i) => ({ command: `git push ${i}` }));
  for (let i = 0; i < count; i += 50) await app.post("/api/v1/audit", { events });
}
