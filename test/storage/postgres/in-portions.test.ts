/** Long lists of users, API keys and organizations. */
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { KeyUses, keysOver } from "../../../src/storage/postgres/keys.ts";
import { organizationsOver } from "../../../src/storage/postgres/organizations.ts";
import { plainSession, type Session } from "../../../src/storage/postgres/session.ts";
import { usersOver } from "../../../src/storage/postgres/users.ts";
import { createDatabase, openDatabase, withoutPostgres } from "../../support/postgres.ts";
import { silent } from "../../support/silent-log.ts";

const skip = withoutPostgres;
/** The ids begin with a hash, so that their order is not that of their numbers. */
const ID = "md5(n::text) || '-' || n";

/** A session over a new database that counts the rows of each answer. */
async function open(t: TestContext) {
  const database = await openDatabase(await createDatabase(), 2);
  t.after(() => database.close());
  const plain = plainSession(database);
  const answers: number[] = [];
  const query: Session["query"] = async (...statement) => {
    const rows = await plain.query<never>(...statement);
    answers.push(rows.length);
    return rows;
  };
  return { database, answers, session: { ...plain, query } };
}

function numbersOf(list: readonly { readonly id: string }[]): readonly number[] {
  return list.map(({ id }) => Number(id.split("-")[1]));
}

function upTo(most: number): readonly number[] {
  return Array.from({ length: most }, (_, n) => n + 1);
}

for (const count of [499, 500, 501, 1_200]) {
  test(
    `${count} users and API keys are listed in order, from at most 500 rows at a time`,
    { skip },
    async (t) => {
      const { database, answers, session } = await open(t);
      await database.run(
        `INSERT INTO users (organization_id, id, email_key, is_active_admin, document)
       SELECT 'acme', ${ID}, n::text, false, json_build_object('id', ${ID})::text
         FROM generate_series(1, $1::int) AS n`,
        [count],
      );
      await database.run(
        `INSERT INTO api_keys (organization_id, id, hash, revoked, document)
       SELECT 'acme', ${ID}, n::text, false, json_build_object('id', ${ID})::text
         FROM generate_series(1, $1::int) AS n`,
        [count],
      );
      assert.deepEqual(numbersOf(await usersOver(session).list("acme")), upTo(count));
      const keys = keysOver(session, new KeyUses(database, silent));
      assert.deepEqual(numbersOf(await keys.list("acme")), upTo(count).toReversed());
      assert.ok(
        answers.every((rows) => rows <= 500),
        `${answers.join()}`,
      );
      assert.deepEqual(await usersOver(session).list("globex"), []);
    },
  );
}

test("organizations are listed in order, from at most 500 rows at a time", { skip }, async (t) => {
  const { database, answers, session } = await open(t);
  await database.run(
    `INSERT INTO organizations (id, name, created_at, updated_at)
     SELECT ${ID}, n, '', '' FROM generate_series(1, 1200) AS n`,
  );
  const organizations = organizationsOver(session);
  assert.deepEqual(numbersOf(await organizations.list()), upTo(1_200));
  assert.equal(await organizations.count(), 1_200);
  assert.ok(
    answers.every((rows) => rows <= 500),
    `${answers.join()}`,
  );
});
