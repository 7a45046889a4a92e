// @ts-check
import { createReadStream, readdirSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

/**
 * Reads the stored events of a generated data directory, some thousand at a time.
 *
 * @param {string} directory
 * @param {number} [size]
 * @returns {AsyncGenerator<Record<string, any>[]>}
 */
export async function* readHistory(directory, size = 5_000) {
  const audit = join(directory, "organizations", "default", "audit");
  let block = [];
  for (const name of readdirSync(audit)
    .filter((file) => file.endsWith(".jsonl"))
    .sort()) {
    const lines = createInterface({
      input: createReadStream(join(audit, name)),
      crlfDelay: Infinity,
    });
    for await (const line of lines) {
      block.push(JSON.parse(line));
      if (block.length < size) continue;
      yield block;
      block = [];
    }
  }
  if (block.length > 0) yield block;
}
