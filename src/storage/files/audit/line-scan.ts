/**
 * Reads what an index needs out of a line without parsing all of it. Lines written by this service
 * have their fields in one order and no white space, so a field is looked for from the end of the one
 * before; a name cannot be found inside a value, since quotes in values are escaped. Whatever looks
 * different is left to `JSON.parse`, which takes twice as long.
 */
import { isAscii } from "node:buffer";
import type { Consumer, Decision } from "../../../audit/schema.ts";
import { canonicalTime } from "./canonical-time.ts";
import type { IndexedEvent } from "./segment-index.ts";
import { readLine } from "./lines.ts";

/**
 * Reads an organization's event.
 *
 * @returns `undefined` when the line is none: damaged, or put there by mistake
 */
export function scanLine(line: Buffer, organization: string): IndexedEvent | undefined {
  return quickScan(line, organization) ?? readLine(line, organization);
}

function quickScan(line: Buffer, organization: string): IndexedEvent | undefined {
  // What is not ASCII could be no UTF-8 at all, a backslash is an escape, and zeros are a hole.
  if (!isAscii(line)) return undefined;
  const text = line.toString("latin1");
  if (text.includes("\\") || text.includes("\0")) return undefined;
  const scan = new Scanner(text);
  const id = scan.text('{"id":"');
  if (id === undefined || scan.text(',"organization_id":"') !== organization) return undefined;
  const timestamp = scan.text(',"timestamp":"');
  const ingested_at = scan.text(',"ingested_at":"');
  if (
    timestamp === undefined ||
    ingested_at === undefined ||
    Number.isNaN(canonicalTime(timestamp))
  )
    return undefined;
  const command = scan.text(',"command":"');
  const executor = scan.text(',"executor":"');
  const consumer = scan.text(',"consumer":"');
  const ai = text.startsWith(',"ai":true', scan.at);
  if (consumer === undefined || (!ai && !text.startsWith(',"ai":false', scan.at))) return undefined;
  scan.at += ai ? 10 : 11;
  const provider = scan.text(',"provider":"');
  const capability = scan.text(',"capability":"');
  const resource = scan.text(',"resource":"');
  const policy_decision = scan.text(',"policy_decision":"') as Decision | undefined;
  const policy = scan.text(',"policy":"');
  scan.text(',"reason":"');
  const status = scan.text(',"status":"');
  if (status === undefined) return undefined;
  scan.text(',"message":"');
  scan.number(',"duration_ms":');
  const runtime_name = scan.text(',"runtime_name":"');
  scan.text(',"runtime_version":"');
  scan.text(',"runtime_context":"');
  const trace_id = scan.text(',"trace_id":"');
  scan.text(',"transport":"');
  if (scan.at !== text.length - 1 || !text.endsWith("}")) return undefined;
  // Spelled out: putting it together from parts takes ten times as long.
  return {
    id,
    timestamp,
    ingested_at,
    command,
    executor,
    consumer: consumer as Consumer,
    ai,
    provider,
    capability,
    resource,
    policy_decision,
    policy,
    status,
    runtime_name,
    trace_id,
  };
}

class Scanner {
  readonly #text: string;
  at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** The value after a field's name, which stands right here; `undefined` when another field does. */
  text(name: string): string | undefined {
    if (!this.#text.startsWith(name, this.at)) return undefined;
    const start = this.at + name.length;
    const end = this.#text.indexOf('"', start);
    if (end === -1) return undefined;
    this.at = end + 1;
    return this.#text.slice(start, end);
  }

  number(name: string): void {
    if (!this.#text.startsWith(name, this.at)) return;
    let end = this.at + name.length;
    while (isDigit(this.#text.charCodeAt(end))) end++;
    this.at = end;
  }
}

function isDigit(unit: number): boolean {
  return unit >= 48 && unit <= 57;
}
