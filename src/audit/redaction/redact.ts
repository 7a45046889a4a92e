/**
 * Takes secrets out of texts before they are stored, streamed or spooled. Nearly every text has no secret, so one pass
 * over the characters decides by groups of three letters whether any rule can match; only then keywords and patterns
 * are tried.
 */
import { REDACTION_RULES } from "./rules.ts";
import type { RedactionRule } from "./shapes.ts";

/** How often a rule has replaced a secret. */
export interface Redaction {
  readonly rule: string;
  readonly count: number;
}

/** The fields of an event that may contain secrets. */
export const REDACTED_FIELDS = ["command", "message", "reason", "resource"] as const;
type RedactedField = (typeof REDACTED_FIELDS)[number];

const MARK = "[redacted:";
/** Five bits of a character, alike for both cases of a letter. */
const BITS = 0x1f;
const TABLE_BITS = 0x7fff;

/** The groups of three letters with which the keywords begin. */
const beginnings = new Uint8Array(TABLE_BITS + 1);
for (const keyword of REDACTION_RULES.flatMap(({ keywords }) => keywords)) {
  let group = 0;
  for (const char of keyword.slice(0, 3)) group = (group << 5) | (char.charCodeAt(0) & BITS);
  beginnings[group] = 1;
}

/** Whether a rule could match somewhere in a text; false for nearly every text without secrets. */
export function mayHaveSecrets(text: string): boolean {
  let group = 0;
  for (let at = 0; at < text.length; at++) {
    group = ((group << 5) | (text.charCodeAt(at) & BITS)) & TABLE_BITS;
    if (beginnings[group] === 1) return true;
  }
  return false;
}

/** Replaces the secrets in a text by `[redacted:<rule>]`. */
export function redactText(text: string): {
  readonly text: string;
  readonly redactions: readonly Redaction[];
} {
  if (!mayHaveSecrets(text)) return { text, redactions: [] };
  const lower = text.toLowerCase();
  const redactions: Redaction[] = [];
  let result = text;
  for (const rule of REDACTION_RULES) {
    if (!rule.keywords.some((keyword) => lower.includes(keyword))) continue;
    const [replaced, count] = applied(rule, result);
    if (count > 0) redactions.push({ rule: rule.id, count });
    result = replaced;
  }
  return { text: result, redactions };
}

/**
 * An event without the secrets in its texts; the same object if it has none.
 *
 * @param count takes each rule that replaced a secret
 */
export function redactEvent<Event extends { readonly [F in RedactedField]?: unknown }>(
  event: Event,
  count?: (redaction: Redaction) => void,
): Event {
  let result = event;
  for (const field of REDACTED_FIELDS) {
    const value = event[field];
    if (typeof value !== "string" || !mayHaveSecrets(value)) continue;
    const { text, redactions } = redactText(value);
    if (redactions.length === 0) continue;
    result = { ...result, [field]: text };
    if (count) redactions.forEach(count);
  }
  return result;
}

function applied({ id, pattern }: RedactionRule, text: string): readonly [string, number] {
  let count = 0;
  const replaced = text.replace(pattern, (found: string, ...rest: unknown[]) => {
    const groups = rest.at(-1) as Readonly<Record<string, string | undefined>> | string;
    const named = typeof groups === "string" ? [] : Object.values(groups);
    const secret = named.find((group) => group !== undefined) ?? found;
    if (secret.startsWith(MARK)) return found; // redacted before, by the guard or by an earlier rule
    count++;
    const at = found.lastIndexOf(secret);
    return `${found.slice(0, at)}${MARK}${id}]${found.slice(at + secret.length)}`;
  });
  return [replaced, count];
}
