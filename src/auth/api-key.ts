import { createHash, randomBytes } from "node:crypto";

const KEY = /^sbx_[A-Za-z0-9_-]{43}$/;
const PREFIX_LENGTH = 12;

/** A new API key: its text, which is shown once, and the data that may be stored. */
export interface NewApiKey {
  readonly text: string;
  readonly hash: string;
  /** The first characters of the key: enough to identify it, too few to use it. */
  readonly prefix: string;
}

/** Makes an API key of 32 random bytes. */
export function createApiKey(): NewApiKey {
  const text = `sbx_${randomBytes(32).toString("base64url")}`;
  return { text, hash: digest(text), prefix: text.slice(0, PREFIX_LENGTH) };
}

/**
 * The hash under which a key is stored; `undefined` for a text that cannot be a key. One round of SHA-256
 * is enough, and cheap enough for every request, since the key is random and cannot be guessed.
 */
export function hashApiKey(text: string): string | undefined {
  return KEY.test(text) ? digest(text) : undefined;
}

function digest(text: string): string {
  return createHash("sha256").update(text, "utf8").digest("hex");
}
