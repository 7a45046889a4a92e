/** A database that cannot be used ends the start with one line that says what to do. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import { Cluster, createDatabase, sharedCluster, withoutPostgres } from "../../support/postgres.ts";
import { launch } from "../../support/server-process.ts";

const SECRET = "hunter2-hunter2";

/** Addresses of databases that cannot be used, by their fault. */
const CASES: readonly (readonly [string, () => Promise<string>, RegExp])[] = [
  [
    "a text that is no URL",
    async () => `db.example:${SECRET}`,
    /^DATABASE_URL: the value given is not understood, expected a URL such as postgres:/,
  ],
  [
    "another kind of database",
    async () => `mysql://root:${SECRET}@127.0.0.1/x`,
    /^DATABASE_URL: the value given is not understood, expected a URL such as postgres:/,
  ],
  [
    "a wrong password",
    async () => (await sharedCluster()).url("postgres", `guarded:${SECRET}`),
    /^DATABASE_URL: the database refused the user name or the password: correct them \(28P01\)$/,
  ],
  [
    "a missing password",
    async () => (await sharedCluster()).url("postgres", "guarded"),
    /^DATABASE_URL: the database asks for a password: give one in the URL$/,
  ],
  [
    "TLS that the database does not offer",
    async () => `${(await sharedCluster()).url("postgres")}?sslmode=verify-full`,
    /^DATABASE_URL: the database does not offer TLS: switch it on there, or leave out sslmode$/,
  ],
  [
    "a server that answers nothing",
    async () => {
      silent.listen(0, "127.0.0.1");
      await once(silent, "listening");
      return `postgres://u:${SECRET}@127.0.0.1:${(silent.address() as AddressInfo).port}/x`;
    },
    /^DATABASE_URL: the database did not answer: check the host, the port, and firewalls between$/,
  ],
  [
    "a database that does not exist",
    async () => (await sharedCluster()).url("nowhere"),
    /^DATABASE_URL: there is no such database: create it first \(3D000\)$/,
  ],
  [
    "a port where nothing listens",
    async () => `postgres://u:${SECRET}@127.0.0.1:1/x`,
    /^DATABASE_URL: nothing listens at this host and port: .* \(ECONNREFUSED\)$/,
  ],
  [
    "a host that does not exist",
    async () => `postgres://u:${SECRET}@db.invalid/x`,
    /^DATABASE_URL: .*name.* \((?:ENOTFOUND|EAI_AGAIN)\)$/,
  ],
  [
    "a database of another program",
    () => changed("CREATE TABLE customers (id integer)", "empty"),
    /^DATABASE_URL: the database holds tables of another program: give Signalbox a database of its own$/,
  ],
  [
    "a database with a schema_migrations of another program",
    () => changed("CREATE TABLE schema_migrations (version varchar PRIMARY KEY)", "empty"),
    /^DATABASE_URL: the database holds tables of another program: give Signalbox a database of its own$/,
  ],
  [
    "a database with a view of another program",
    () => changed("CREATE VIEW users AS SELECT 1 AS id", "empty"),
    /^DATABASE_URL: the database holds objects of another program: give .* of its own \(42P07\)$/,
  ],
  [
    "a search_path to a schema that does not exist",
    async () => {
      const url = await createDatabase("empty");
      const name = new URL(url).pathname.slice(1);
      await (await sharedCluster()).sql(`ALTER DATABASE ${name} SET search_path = missing`);
      return url;
    },
    /^DATABASE_URL: the search_path has no schema that exists: create one of .* it \(3F000\)$/,
  ],
  ...["SQL_ASCII", "LATIN1"].map((encoding): (typeof CASES)[number] => [
    `a database in ${encoding}`,
    async () => {
      const cluster = await sharedCluster();
      const name = `in_${encoding}`.toLowerCase();
      await cluster.sql(
        `CREATE DATABASE ${name} ENCODING '${encoding}' LOCALE 'C' TEMPLATE template0`,
      );
      return cluster.url(name);
    },
    new RegExp(
      `^DATABASE_URL: the encoding of the database is ${encoding}, expected UTF8: create another one with ENCODING 'UTF8' TEMPLATE template0$`,
    ),
  ]),
  [
    "a database of a newer version",
    () => changed("INSERT INTO schema_migrations (number, file) VALUES (9999, 'x.sql')"),
    /^DATABASE_URL: the database is of a newer Signalbox \(migration 9999, this version knows \d+\): start that version or a later one$/,
  ],
  [
    "a PostgreSQL that is too old",
    () =>
      changed(
        `CREATE FUNCTION current_setting(text) RETURNS text LANGUAGE sql AS
           $$ SELECT CASE $1 WHEN 'server_version_num' THEN '130011' ELSE '13.11' END $$;
         DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET search_path = public, pg_catalog',
                                    current_database()); END $$`,
        "empty",
      ),
    /^DATABASE_URL: the database is PostgreSQL 13\.11, expected 14 or later$/,
  ],
  [
    "a user who may not create tables",
    async () => {
      const url = new URL(await createDatabase("empty"));
      url.username = "limited";
      return url.href;
    },
    /^DATABASE_URL: the user may not create tables: make it the owner of the database \(42501\)$/,
  ],
  [
    "a user who has no connection left",
    async () => (await sharedCluster()).url("postgres", "crowded"),
    /^DATABASE_URL: the database has no free connection: .* \(53300\)$/,
  ],
  [
    "a standby in recovery",
    async () => {
      // A copy of the shared cluster would have all databases of the tests.
      primary = await Cluster.start({ fsync: false });
      replica = await Cluster.replicaOf(primary);
      return replica.url("postgres");
    },
    /^DATABASE_URL: the database is read-only, as a standby in recovery is: give the primary's address \(25006\)$/,
  ],
];

let primary: Cluster | undefined;
let replica: Cluster | undefined;
const silent = createServer((socket) => void socket.resume().on("error", () => undefined));

/** A database in which something was done. */
async function changed(text: string, content?: "empty"): Promise<string> {
  const url = await createDatabase(content);
  await (await sharedCluster()).sql(text, new URL(url).pathname.slice(1));
  return url;
}

if (withoutPostgres === false) {
  before(async () => {
    await (
      await sharedCluster()
    ).sql(
      `CREATE ROLE guarded LOGIN PASSWORD 'right'; CREATE ROLE limited LOGIN;
       CREATE ROLE crowded LOGIN CONNECTION LIMIT 0`,
    );
  });
  after(async () => {
    silent.close();
    await replica?.remove();
    await primary?.remove();
  });
}

for (const [what, urlOf, expected] of CASES) {
  test(`${what} ends the start with one line`, { skip: withoutPostgres }, async (t) => {
    const server = launch(t, { DATABASE_URL: await urlOf() });
    assert.equal(await server.exit(), 1);
    const [line = "", ...rest] = server.stderr.split("\n");
    assert.deepEqual(rest, [""]);
    assert.match(line, /^Signalbox cannot start: /);
    assert.match(line.replace("Signalbox cannot start: ", ""), expected);
    assert.ok(!line.includes(SECRET) && !/\bat .*:\d+:\d+/.test(line));
    assert.equal(server.stdout, "");
  });
}
