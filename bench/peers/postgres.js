// @ts-check
/** Audit events and runtimes in PostgreSQL: a pool of 20, named statements, several rows an insert. */
import pg from "pg";
import { COLUMNS, withoutNulls } from "./event.js";
import { readHistory } from "./history.js";

const ROWS_AN_INSERT = 250;
const SEARCHED = ["command", "executor", "resource", "provider", "capability"];

const TABLES = `
  CREATE TABLE IF NOT EXISTS audit_events (
    sequence bigint GENERATED ALWAYS AS IDENTITY,
    ${COLUMNS.map((name) => `${name} ${typeOf(name)}`).join(", ")}
  );
  CREATE TABLE IF NOT EXISTS runtimes (
    organization_id text NOT NULL, name text NOT NULL, hostname text, os text, version text,
    policy_version text, last_seen timestamptz NOT NULL, PRIMARY KEY (organization_id, name)
  );`;
const INDEXES = `
  CREATE INDEX IF NOT EXISTS by_time ON audit_events (organization_id, timestamp, sequence);
  CREATE INDEX IF NOT EXISTS by_decision ON audit_events (organization_id, policy_decision, timestamp, sequence);
  CREATE INDEX IF NOT EXISTS by_provider ON audit_events (organization_id, provider, timestamp, sequence);`;

/** @param {string} name */
function typeOf(name) {
  if (name === "id") return "text PRIMARY KEY";
  if (name === "timestamp" || name === "ingested_at") return "timestamptz NOT NULL";
  if (name === "ai") return "boolean";
  return name === "duration_ms" ? "bigint" : "text";
}

/**
 * @param {string} socketDirectory
 * @param {string} [history] a generated data directory, loaded into an empty database
 */
export async function openPostgres(socketDirectory, history) {
  pg.types.setTypeParser(pg.types.builtins.INT8, Number);
  pg.types.setTypeParser(pg.types.builtins.TIMESTAMPTZ, (text) => new Date(text).toISOString());
  const pool = new pg.Pool({ host: socketDirectory, user: "bench", database: "postgres", max: 20 });
  await pool.query(TABLES);

  /** @param {Record<string, any>[]} events @param {Pick<pg.Pool, "query">} [connection] */
  const insert = async (events, connection = pool) => {
    await connection.query({
      name: `insert-${events.length}`,
      text: insertText(events.length),
      values: events.flatMap(valuesOf),
    });
  };
  /** @param {Record<string, any>[]} events */
  const insertAll = async (events) => {
    const connection = await pool.connect();
    try {
      await connection.query("BEGIN");
      for (let i = 0; i < events.length; i += ROWS_AN_INSERT) {
        await insert(events.slice(i, i + ROWS_AN_INSERT), connection);
      }
      await connection.query("COMMIT");
    } catch (error) {
      await connection.query("ROLLBACK");
      throw error;
    } finally {
      connection.release();
    }
  };
  if (
    history !== undefined &&
    (await pool.query("SELECT 1 FROM audit_events LIMIT 1")).rowCount === 0
  ) {
    for await (const events of readHistory(history)) await insertAll(events);
  }
  await pool.query(INDEXES);
  if (history !== undefined) await pool.query("VACUUM ANALYZE audit_events");

  return {
    /** @param {Record<string, any>} event */
    append: (event) => insert([event]),
    appendAll: insertAll,
    /** @param {Record<string, any>} query */
    async page({ limit, offset, ...filter }) {
      const { where, values } = conditions(filter);
      const last = values.length;
      const [rows, total] = await Promise.all([
        pool.query({
          name: nameOf(`page ${where}`),
          text: `SELECT ${COLUMNS.join(", ")} FROM audit_events WHERE ${where}
                 ORDER BY timestamp DESC, sequence DESC LIMIT $${last + 1} OFFSET $${last + 2}`,
          values: [...values, limit, offset],
        }),
        pool.query({
          name: nameOf(`total ${where}`),
          text: `SELECT count(*) AS total FROM audit_events WHERE ${where}`,
          values,
        }),
      ]);
      return { events: rows.rows.map(withoutNulls), total: total.rows[0].total };
    },
    /** @param {Record<string, any>} runtime @param {string} now */
    async heartbeat({ name, hostname, os, version, policy_version }, now) {
      await pool.query({
        name: "heartbeat",
        text: `INSERT INTO runtimes VALUES ('default', $1, $2, $3, $4, $5, $6)
               ON CONFLICT (organization_id, name) DO UPDATE SET
                 hostname = coalesce(excluded.hostname, runtimes.hostname),
                 os = coalesce(excluded.os, runtimes.os),
                 version = coalesce(excluded.version, runtimes.version),
                 policy_version = coalesce(excluded.policy_version, runtimes.policy_version),
                 last_seen = excluded.last_seen`,
        values: [name, hostname, os, version, policy_version, now],
      });
    },
    close: () => pool.end(),
  };
}

/** @type {Map<string, string>} */
const names = new Map();

/**
 * A short name for a statement: PostgreSQL cuts names at 63 bytes.
 *
 * @param {string} text
 */
function nameOf(text) {
  const name = names.get(text) ?? `statement-${names.size}`;
  names.set(text, name);
  return name;
}

/** @param {number} rows */
function insertText(rows) {
  const width = COLUMNS.length;
  const groups = Array.from(
    { length: rows },
    (_, row) => `(${COLUMNS.map((__, i) => `$${row * width + i + 1}`).join(", ")})`,
  );
  return `INSERT INTO audit_events (${COLUMNS.join(", ")}) VALUES ${groups.join(", ")}`;
}

/** @param {Record<string, any>} event */
function valuesOf(event) {
  return COLUMNS.map((name) => event[name] ?? null);
}

/** @param {Record<string, any>} filter */
function conditions({ q, decision, provider, consumer }) {
  const terms = ["organization_id = 'default'"];
  /** @type {unknown[]} */
  const values = [];
  /** @param {unknown} value */
  const parameter = (value) => `$${values.push(value)}`;
  if (decision !== undefined) terms.push(`policy_decision = ${parameter(decision)}`);
  if (provider !== undefined) terms.push(`provider = ${parameter(provider)}`);
  if (consumer !== undefined) terms.push(`consumer = ${parameter(consumer)}`);
  if (q !== undefined) {
    const pattern = parameter(`%${q.replaceAll(/[\\%_]/g, "\\$&")}%`);
    terms.push(`(${SEARCHED.map((name) => `${name} ILIKE ${pattern}`).join(" OR ")})`);
  }
  return { where: terms.join(" AND "), values };
}
