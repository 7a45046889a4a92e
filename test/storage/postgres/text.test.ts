import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { fromText, isSafeJson, toText } from "../../../src/storage/postgres/text.ts";

const isWellFormed = (text: string): boolean => Buffer.from(text).toString() === text;

const anyText = fc
  .array(fc.oneof(fc.constantFrom(0, 0xd83d, 0xde00, 0xfdd0, 0xfde0, 0x61), fc.nat(0xffff)))
  .map((units) => String.fromCharCode(...units));

test("an ordinary text is stored unchanged", () => {
  for (const text of ["", "rm -rf", "é 🚂\r\n", "\u001f\u0001"]) assert.equal(toText(text), text);
});

test("every text is encoded in a form that PostgreSQL accepts, and decoded again", () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const form = toText(text);
      assert.equal(fromText(form), text);
      assert.ok(isWellFormed(form) && !form.includes("\0"));
    }),
  );
});

test("JSON is only safe if none of its texts has to be encoded", () => {
  for (const text of ["rm -rf", "é 🚂\n"]) assert.ok(isSafeJson(JSON.stringify({ text })));
  fc.assert(
    fc.property(anyText, anyText, (ordinary, text) => {
      const safe = isSafeJson(JSON.stringify({ ordinary, text }));
      if (!safe) return;
      for (const one of [ordinary, text]) {
        for (const form of [one, one.toLowerCase()])
          assert.equal(toText(form.toWellFormed()), form);
      }
    }),
  );
  for (const unit of [0, 0xd83d, 0xfdd0, 0xfde0, 0xfde1]) {
    const text = `a${String.fromCharCode(unit)}b`;
    assert.ok(!isSafeJson(JSON.stringify({ text })), unit.toString(16));
  }
});

test("a text contains another well-formed one exactly if their forms do", () => {
  fc.assert(
    fc.property(anyText, anyText, (text, part) => {
      fc.pre(isWellFormed(part));
      assert.equal(toText(text).includes(toText(part)), text.includes(part));
      assert.ok(toText(text + part + text).includes(toText(part)));
    }),
  );
});
