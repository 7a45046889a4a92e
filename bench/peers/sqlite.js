// @ts-check
/** Audit events and runtimes in SQLite: one row for each, statements prepared once, WAL. */
import { join } from "node:path";
import Database from "better-sqlite3";
import { COLUMNS, withoutNulls } from "./event.js";
import { readHistory } from "./history.js";

const SEARCHED = ["command", "executor", "resource", "provider", "capability"];

const TABLES = `
  CREATE TABLE IF NOT EXISTS audit_events (
    ${COLUMNS.map((name) => `${name} ${typeOf(name)}`).join(", ")}
  );
  CREATE TABLE IF NOT EXISTS runtimes (
    organization_id TEXT NOT NULL, name TEXT NOT NULL, hostname TEXT, os TEXT, version TEXT,
    policy_version TEXT, last_seen TEXT NOT NULL, PRIMARY KEY (organization_id, name)
  ) WITHOUT ROWID;`;
const INDEXES = `
  CREATE INDEX IF NOT EXISTS by_time ON audit_events (organization_id, timestamp);
  CREATE INDEX IF NOT EXISTS by_decision ON audit_events (organization_id, policy_decision, timestamp);
  CREATE INDEX IF NOT EXISTS by_provider ON audit_events (organization_id, provider, timestamp);`;

/** @param {string} name */
function typeOf(name) {
  if (name === "id") return "TEXT PRIMARY KEY";
  return name === "ai" || name === "duration_ms" ? "INTEGER" : "TEXT";
}

/**
 * @param {string} synchronous `NORMAL` or `FULL`: whether a commit waits for the disk
 * @param {string} directory
 * @param {string} [history] a generated data directory, loaded into an empty database
 */
export async function openSqlite(synchronous, directory, history) {
  const database = new Database(join(directory, "audit.sqlite"));
  database.pragma("journal_mode = WAL");
  database.pragma(`synchronous = ${synchronous}`);
  database.pragma("cache_size = -262144"); // 256 MiB
  database.pragma("mmap_size = 4294967296");
  database.exec(TABLES);

  const insert = database.prepare(
    `INSERT INTO audit_events (${COLUMNS.join(", ")}) VALUES (${COLUMNS.map(() => "?").join(", ")})`,
  );
  const insertAll = database.transaction((/** @type {Record<string, any>[]} */ events) => {
    for (const event of events) insert.run(valuesOf(event));
  });
  const beat = database.prepare(
    `INSERT INTO runtimes VALUES ('default', ?, ?, ?, ?, ?, ?)
     ON CONFLICT (organization_id, name) DO UPDATE SET
       hostname = coalesce(excluded.hostname, hostname), os = coalesce(excluded.os, os),
       version = coalesce(excluded.version, version),
       policy_version = coalesce(excluded.policy_version, policy_version),
       last_seen = excluded.last_seen`,
  );
  if (history !== undefined && database.prepare("SELECT 1 FROM audit_events").get() === undefined) {
    for await (const events of readHistory(history)) insertAll(events);
  }
  database.exec(INDEXES);
  if (history !== undefined) database.exec("ANALYZE");

  /** @type {Map<string, { rows: import("better-sqlite3").Statement, total: import("better-sqlite3").Statement }>} */
  const pages = new Map();
  /** @param {string} where */
  const pageStatements = (where) => {
    const found = pages.get(where) ?? {
      rows: database.prepare(
        `SELECT ${COLUMNS.join(", ")} FROM audit_events WHERE ${where}
         ORDER BY timestamp DESC, rowid DESC LIMIT ? OFFSET ?`,
      ),
      total: database.prepare(`SELECT count(*) FROM audit_events WHERE ${where}`).pluck(),
    };
    pages.set(where, found);
    return found;
  };

  return {
    /** @param {Record<string, any>} event */
    append(event) {
      insert.run(valuesOf(event));
    },
    appendAll: insertAll,
    /** @param {Record<string, any>} query */
    page({ limit, offset, ...filter }) {
      const { where, values } = conditions(filter);
      const { rows, total } = pageStatements(where);
      const events = /** @type {Record<string, any>[]} */ (rows.all(...values, limit, offset));
      for (const event of events) withoutNulls(event).ai = event["ai"] === 1;
      return { events, total: Number(total.get(...values)) };
    },
    /** @param {Record<string, any>} runtime @param {string} now */
    heartbeat({ name, hostname, os, version, policy_version }, now) {
      beat.run(name, hostname ?? null, os ?? null, version ?? null, policy_version ?? null, now);
    },
    close() {
      database.close();
    },
  };
}

/** @param {Record<string, any>} event */
function valuesOf(event) {
  return COLUMNS.map((name) => (name === "ai" ? Number(event[name]) : (event[name] ?? null)));
}

/** @param {Record<string, any>} filter */
function conditions({ q, decision, provider, consumer }) {
  const terms = ["organization_id = 'default'"];
  const values = [];
  for (const [column, value] of [
    ["policy_decision", decision],
    ["provider", provider],
    ["consumer", consumer],
  ]) {
    if (value === undefined) continue;
    terms.push(`${column} = ?`);
    values.push(value);
  }
  if (q !== undefined) {
    const pattern = `%${q.replaceAll(/[\\%_]/g, "\\$&")}%`;
    terms.push(`(${SEARCHED.map((name) => `${name} LIKE ? ESCAPE '\\'`).join(" OR ")})`);
    values.push(...SEARCHED.map(() => pattern));
  }
  return { where: terms.join(" AND "), values };
}
