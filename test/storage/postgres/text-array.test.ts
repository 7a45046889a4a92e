import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { textArray } from "../../../src/storage/postgres/text-array.ts";
import { toText } from "../../../src/storage/postgres/text.ts";
import { anyText } from "../../support/any-text.ts";
import { createDatabase, openDatabase, withoutPostgres } from "../../support/postgres.ts";

test(
  "the database reads an array of texts as it was given",
  { skip: withoutPostgres },
  async (t) => {
    const database = await openDatabase(await createDatabase("empty"), 1);
    t.after(() => database.close());
    const text = fc.oneof(anyText().map(toText), fc.constantFrom('"{},\NULL', "é🚂".repeat(200)));
    const someTexts = fc.array(fc.option(text, { nil: undefined }));
    const isRead = async (texts: readonly (string | undefined)[]): Promise<void> => {
      const [row] = await database.query("SELECT $1::text[] AS texts", [textArray(texts)]);
      assert.deepEqual(row, { texts: texts.map((one) => one ?? null) });
    };
    await fc.assert(fc.asyncProperty(someTexts, isRead));
  },
);
