/** Loads a generated history into a database, as servers would have stored it. */
import { createReadStream, readdirSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { AuditEvent } from "../src/audit/schema.ts";
import { configFromOptions } from "../src/config.ts";
import { createLog } from "../src/core/log.ts";
import { Layout } from "../src/storage/layout.ts";
import { PostgresAudit } from "../src/storage/postgres/audit.ts";
import { indexClosedDays } from "../src/storage/postgres/audit/closed-days.ts";
import { openDatabase } from "../src/storage/postgres/start.ts";
import { Usage } from "./usage.ts";

const ORGANIZATION = "default";
const AT_ONCE = 2_000;

/** Loads the events of a generated data directory into an empty database. */
export async function loadHistory(databaseUrl: string, directory: string): Promise<void> {
  const log = createLog("warn", Date.now, (line) => void process.stderr.write(line));
  const database = await openDatabase({ config: configFromOptions({ databaseUrl }), log });
  const audit = new PostgresAudit({ database, now: Date.now, log, durability: "write" });
  const store = (events: readonly AuditEvent[]) =>
    new Promise<void>((resolve, reject) => {
      audit.append(ORGANIZATION, events, (error) => {
        if (error === null) resolve();
        else reject(error as Error);
      });
    });
  try {
    let block: AuditEvent[] = [];
    let storing: Promise<void> = Promise.resolve();
    for await (const line of linesOf(new Layout(directory).organization(ORGANIZATION).audit)) {
      if (block.push(JSON.parse(line) as AuditEvent) < AT_ONCE) continue;
      await storing;
      storing = store(block); // while the next block is read
      block = [];
    }
    await storing;
    await store(block);
    await indexClosedDays(database, Date.now());
  } finally {
    await audit.close();
    await database.close();
  }
}

async function* linesOf(directory: string): AsyncGenerator<string> {
  const segments = readdirSync(directory).filter((name) => name.endsWith(".jsonl"));
  for (const segment of segments.sort()) {
    yield* createInterface({ input: createReadStream(join(directory, segment)) });
  }
}

if (import.meta.filename === process.argv[1]) {
  const usage = new Usage("Usage: node --import tsx bench/load-history.ts DATABASE_URL DIRECTORY");
  const [url, directory] = usage.read({}, { most: 2 }).positionals;
  if (url === undefined || directory === undefined)
    usage.fail("DATABASE_URL or DIRECTORY is missing");
  else await usage.attempt(() => loadHistory(url, directory));
}
