/**
 * Drafts of policies, made of an event: a rule in the schema `signalbox/policy/v1` that decides the
 * same command in a chosen way, and a test that says so. It is a beginning for an editor: narrow, with
 * what could widen or narrow it beside it as comments.
 */
import type { AuditEvent } from "../audit/schema.ts";

/** What a rule does. */
export type Effect = "allow" | "deny";

/** What a draft is made of. */
export type DraftEvent = Pick<
  AuditEvent,
  | "id"
  | "timestamp"
  | "command"
  | "provider"
  | "capability"
  | "consumer"
  | "executor"
  | "resource"
  | "reason"
>;

const SCHEMA_LINE = "schema: signalbox/policy/v1";
const LONGEST_COMMAND = 2_000;
const LONGEST_VALUE = 500;
const ID_WORDS = 3;
const CAPABILITY = /^[^/\s]+\/[^/\s]+$/;

/** An id of the form that drafts have, wherever it stands in a policy's text. */
const RULE_ID = /\bid:\s*["']?([a-z0-9-]+)["']?(?=\s*(?:[#,}]|$))/gm;

/** The keys of a rule's match, each with the field of an event that it is made of. */
const NARROWER = [
  ["providers", "provider"],
  ["capabilities", "capability"],
  ["consumers", "consumer"],
  ["executors", "executor"],
  ["resources", "resource"],
] as const;

/** Whether an event says enough to make a rule that does not match everything. */
export function canDraft(event: DraftEvent): boolean {
  return wordsOf(event).length > 0 || matchLines(event).some((line) => !line.startsWith("#"));
}

/**
 * Drafts a policy with a rule that decides an event's command: the active policy with the rule
 * before its other ones where that is a document of our schema, else a document of its own.
 *
 * @param active the text of the active policy; `undefined` for none
 * @returns `undefined` when the event says nothing that a rule could match
 */
export function draftPolicyWithRule(
  event: DraftEvent,
  effect: Effect,
  active: string | undefined,
): string | undefined {
  if (!canDraft(event)) return undefined;
  const id = freeId(event, effect, active ?? "");
  const rule = ruleLines(event, effect, id);
  const test = testLines(event, effect, id);
  return (active === undefined ? undefined : extended(active, rule, test)) ?? alone(rule, test);
}

/** A document that holds nothing but the rule. */
function alone(rule: readonly string[], test: readonly string[]): string {
  const lines = [
    "# This document stands alone: published as it is, it takes the place of the whole active policy.",
    SCHEMA_LINE,
    "default: deny",
    "rules:",
    ...indented(rule, 2),
    ...(test.length > 0 ? ["tests:", ...indented(test, 2)] : []),
  ];
  return `${lines.join("\n")}\n`;
}

/**
 * A policy's text with a rule and a test more; nothing else of it changes. Where the text does not
 * have the plain form that this understands, the result is `undefined`.
 */
function extended(
  text: string,
  rule: readonly string[],
  test: readonly string[],
): string | undefined {
  const lines = text.split("\n");
  if (!lines.some((line) => /^schema:\s*["']?signalbox\/policy\/v1["']?\s*(?:#.*)?$/.test(line))) {
    return undefined;
  }
  if (lines.some((line) => /^(?:---|\.\.\.)/.test(line))) return undefined;
  const withRule = inserted(lines, "rules", rule);
  if (!withRule || test.length === 0) return withRule?.join("\n");
  const withTest = inserted(withRule, "tests", test);
  if (withTest) return withTest.join("\n");
  if (withRule.some((line) => /^["']?tests\b/.test(line))) return withRule.join("\n");
  return `${withRule.join("\n").trimEnd()}\ntests:\n${indented(test, 2).join("\n")}\n`;
}

/** Lines with an entry more at the beginning of a list that stands at the top of the document. */
function inserted(
  lines: readonly string[],
  key: string,
  entry: readonly string[],
): readonly string[] | undefined {
  const starts = lines.flatMap((line, at) => (line.startsWith(`${key}:`) ? [at] : []));
  const [at = -1] = starts;
  if (starts.length !== 1) return undefined;
  const [rest = ""] = (lines[at] ?? "").slice(key.length + 1).split(/(?:^|\s)#/, 1);
  if (rest.trim() === "[]") {
    return [...lines.slice(0, at), `${key}:`, ...indented(entry, 2), ...lines.slice(at + 1)];
  }
  const first = lines.slice(at + 1).find((line) => line.trim() !== "" && !/^\s*#/.test(line));
  const [, margin] = /^( *)- /.exec(first ?? "") ?? [];
  if (rest.trim() !== "" || margin === undefined) return undefined;
  return [...lines.slice(0, at + 1), ...indented(entry, margin.length), ...lines.slice(at + 1)];
}

function ruleLines(event: DraftEvent, effect: Effect, id: string): readonly string[] {
  const from = `Drafted from event ${event.id} of ${event.timestamp}`;
  const reason = effect === "deny" ? (event.reason ?? "Say why") : undefined;
  return [
    `- id: ${id}`,
    `  effect: ${effect}`,
    `  description: ${quoted(from)}`,
    ...(reason === undefined ? [] : [`  reason: ${quoted(cut(reason))}`]),
    "  match:",
    ...commandLines(event).map((line) => `    ${line}`),
    ...matchLines(event).map((line) => `    ${line}`),
  ];
}

function commandLines(event: DraftEvent): readonly string[] {
  const words = wordsOf(event);
  if (words.length === 0) return [];
  const command = (event.command ?? "").trim();
  const wider = quoted(leadingWords(words));
  if (command.length > LONGEST_COMMAND) {
    return ["commands: # the whole command is too long for a rule", `  - prefix: ${wider}`];
  }
  return [
    "commands:",
    `  - exact: ${quoted(command)}`,
    `  # - prefix: ${wider} # every command that begins with these words`,
  ];
}

/** What else the rule could ask for: as comments where the command says it already. */
function matchLines(event: DraftEvent): readonly string[] {
  const hasCommand = wordsOf(event).length > 0;
  return NARROWER.flatMap(([key, field]) => {
    const value = event[field]?.trim();
    if (!value || value.length > LONGEST_VALUE) return [];
    if (field === "capability" && !CAPABILITY.test(value)) return [];
    const line = `${key}: [${quoted(value)}]`;
    // A star is a pattern here, and a kind of caller alone is no rule about one event.
    const isComment = hasCommand || value.includes("*") || field === "consumer";
    return [isComment ? `# ${line}` : line];
  });
}

/** The document's own promise about the event; none where a test could not say the same. */
function testLines(event: DraftEvent, effect: Effect, id: string): readonly string[] {
  const command = (event.command ?? "").trim();
  if (command === "" || command.length > LONGEST_COMMAND) return [];
  const facts = NARROWER.flatMap(([, field]) => {
    const value = event[field];
    if (value === undefined || value.trim() === "" || value.length > LONGEST_VALUE) return [];
    if (field === "capability" && !CAPABILITY.test(value)) return [];
    return [`  ${field}: ${quoted(value)}`];
  });
  return [`- command: ${quoted(command)}`, ...facts, `  expect: ${effect}`, `  rule: ${id}`];
}

/** A rule's id that says what it is about, and that the policy does not have yet. */
function freeId(event: DraftEvent, effect: Effect, active: string): string {
  const source = event.command ?? event.capability ?? event.provider ?? event.resource ?? "";
  const words = source
    .slice(0, LONGEST_COMMAND)
    .toLowerCase()
    .match(/[a-z0-9]+/g);
  const name = [effect, ...(words ?? []).slice(0, ID_WORDS)].join("-").slice(0, 60);
  const taken = new Set(Array.from(active.matchAll(RULE_ID), ([, id]) => id));
  for (let number = 1; ; number++) {
    const id = number === 1 ? name : `${name}-${number}`;
    if (!taken.has(id)) return id;
  }
}

function wordsOf({ command = "" }: DraftEvent): readonly string[] {
  return command
    .slice(0, 4 * LONGEST_COMMAND)
    .split(/\s+/)
    .filter((word) => word !== "");
}

/** The words before the first that looks like an option, a path or a value: at most three. */
function leadingWords(words: readonly string[]): string {
  const end = words.findIndex((word, at) => at > 0 && !/^[a-z][a-z0-9-]{0,40}$/i.test(word));
  return cut(words.slice(0, Math.min(end === -1 ? ID_WORDS : end, ID_WORDS)).join(" "));
}

function cut(text: string): string {
  return text.length <= LONGEST_VALUE ? text : Array.from(text.slice(0, LONGEST_VALUE)).join("");
}

function indented(lines: readonly string[], by: number): readonly string[] {
  return lines.map((line) => " ".repeat(by) + line);
}

/**
 * A text as YAML 1.2 writes it in double quotes: as JSON, with unprintable characters escaped too, so
 * that nothing in a text ends its line.
 */
function quoted(text: string): string {
  if (/^[A-Za-z][\w./-]*(?: [\w./-]+)*$/.test(text) && !isWord(text)) return text;
  return JSON.stringify(text).replace(
    /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]/gu, // with u, half a pair only
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** Whether a plain text would be read as something else than a text. */
function isWord(text: string): boolean {
  return /^(?:true|false|null|yes|no|on|off|y|n)$/i.test(text);
}
