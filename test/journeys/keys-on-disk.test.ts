import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { ADMIN, ADMIN_SETTINGS, start } from "../support/start.ts";

test("nothing but a hash of a key is on disk", async (t) => {
  const app = await start(t, { ...ADMIN_SETTINGS, requireAuth: true });
  const admin = await app.asUser(ADMIN);
  const { key } = await app.createKey("hashed", admin);
  const files = await readdir(app.dataDir, { recursive: true, withFileTypes: true });
  const texts = await Promise.all(
    files
      .filter((entry) => entry.isFile())
      .map((entry) => readFile(join(entry.parentPath, entry.name), "utf8")),
  );
  const all = texts.join("\n");
  const text = String(key["x-api-key"]);
  assert.ok(!all.includes(text.slice(12)));
  const hash = createHash("sha256").update(text).digest();
  assert.ok(all.includes(hash.toString("hex")) || all.includes(hash.toString("base64url")));
});
