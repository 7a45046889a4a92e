/**
 * Drafts a policy from an audit event: the active policy with a rule that decides the same command,
 * and a test of it. The rule is narrow; comments beside it show how to widen or narrow it. The
 * document is edited at the positions of its parsed nodes, so all its other lines stay unchanged.
 */
import { Document, isMap, isSeq, isScalar, Scalar, type YAMLMap, type YAMLSeq } from "yaml";
import { parseDocument } from "./document.ts";
import { canDraft, factsOf, isNarrow, LONGEST_VALUE, type DraftEvent } from "./draft-event.ts";
import type { Effect } from "./evaluate.ts";
import { Problems } from "./problems.ts";
import { isSignalboxDocument, SCHEMA_NAME } from "./signalbox-document.ts";
import { StepBudget } from "./step-budget.ts";

const LONGEST_COMMAND = 2_000;
const ID_WORDS = 3;

/**
 * Drafts a policy with a rule that decides an event's command. If the active policy cannot be
 * extended (another schema, or lists in flow style), the draft contains only the rule.
 *
 * @param active the text of the active policy; `undefined` if none is active
 * @returns `undefined` if the event has no value that a rule could match
 */
export function draftPolicyWithRule(
  event: DraftEvent,
  effect: Effect,
  active: string | undefined,
): string | undefined {
  if (!canDraft(event)) return undefined;
  const policy = active === undefined ? undefined : parsed(active);
  const id = freeId(event, effect, new Set(idsIn(policy?.root)));
  const rule = ruleText(event, effect, id);
  const test = testText(event, effect, id);
  return (policy && extended(policy, rule, test)) ?? alone(rule, test);
}

/** Parses a document of our schema; `undefined` for any other document, and for one in flow style. */
function parsed(text: string): Parsed | undefined {
  const { root, aliases } = parseDocument(text, new Problems(text), new StepBudget(Infinity));
  return root && !root.flow && isSignalboxDocument(root, aliases) ? { text, root } : undefined;
}

/** A document that contains only the rule and its test. */
function alone(rule: string, test: string): string {
  const head =
    "# This document stands alone: published as it is, it takes the place of the whole active policy.";
  const tests = test === "" ? "" : `tests:\n${indented(test, 2)}`;
  return `${head}\nschema: ${SCHEMA_NAME}\ndefault: deny\nrules:\n${indented(rule, 2)}${tests}`;
}

/** A document of our schema: its text and its parsed form. */
interface Parsed {
  readonly text: string;
  readonly root: YAMLMap;
}

/** The text with the rule and the test before its own ones; `undefined` if a list is in flow style. */
function extended(active: Parsed, rule: string, test: string): string | undefined {
  const withRule = inserted(active, "rules", rule);
  if (!withRule || test === "") return withRule?.text;
  if (withRule.root.has("tests")) return (inserted(withRule, "tests", test) ?? withRule).text;
  return `${withRule.text.trimEnd()}\ntests:\n${indented(test, 2)}`;
}

/** The document with a new first entry in a list of its root. */
function inserted({ text, root }: Parsed, key: string, entry: string): Parsed | undefined {
  const pair = root.items.find((one) => isScalar(one.key) && one.key.value === key);
  const list = pair?.value;
  if (!isSeq(list) || !list.range) return undefined;
  const [start, end] = list.range;
  const isEmpty = list.items.length === 0;
  if (list.flow && !isEmpty) return undefined;
  // After the key's line: a comment before the first entry stays there.
  const keyEnd = (isScalar(pair?.key) && pair.key.range?.[1]) || 0;
  const kept = isEmpty ? text.slice(0, start).trimEnd() + text.slice(end) : text;
  const margin = isEmpty ? 2 : start - (text.lastIndexOf("\n", start) + 1);
  const lineEnd = kept.indexOf("\n", keyEnd);
  const [before, after] =
    lineEnd === -1 ? [`${kept}\n`, ""] : [kept.slice(0, lineEnd + 1), kept.slice(lineEnd + 1)];
  const result = parsed(before + indented(entry, margin) + after);
  const found = result?.root.get(key);
  return isSeq(found) && found.items.length === list.items.length + 1 ? result : undefined;
}

function ruleText(event: DraftEvent, effect: Effect, id: string): string {
  const command = (event.command ?? "").trim();
  const facts = factsOf(event).map(({ value, ...fact }) => ({ ...fact, value: value.trim() }));
  const matched = command === "" ? facts.filter(isNarrow) : [];
  const others = facts.filter((fact) => !matched.includes(fact));
  const reason = effect === "deny" ? (event.reason ?? "Say why") : undefined;
  const document = new Document({
    id,
    effect,
    description: scalar(`Drafted from event ${event.id} of ${event.timestamp}`),
    ...(reason === undefined ? {} : { reason: scalar(cut(reason)) }),
    match: {
      ...(command === "" ? {} : { commands: [] }),
      ...Object.fromEntries(matched.map(({ key, value }) => [key, [scalar(value)]])),
    },
  });
  for (const { key } of matched) (document.getIn(["match", key]) as YAMLSeq).flow = true;
  if (command !== "") addCommand(document, command);
  const match = document.get("match") as YAMLMap;
  const comments = others.map(({ key, value }) => ` ${key}: [${oneLine(scalar(value))}]`);
  if (comments.length > 0) match.comment = comments.join("\n");
  return entryOf(document);
}

/** Matches the command as a whole, or by its first words if it is too long for a rule. */
function addCommand(document: Document, command: string): void {
  const commands = document.getIn(["match", "commands"]) as YAMLSeq;
  const wider = scalar(leadingWords(command));
  if (command.length > LONGEST_COMMAND) {
    commands.commentBefore = " the whole command is too long for a rule";
    commands.add(document.createNode({ prefix: wider }));
  } else {
    commands.add(document.createNode({ exact: scalar(command) }));
    commands.comment = ` - prefix: ${oneLine(wider)} # every command that begins with these words`;
  }
}

/** A test of the event; empty if no test can express it. */
function testText(event: DraftEvent, effect: Effect, id: string): string {
  const command = (event.command ?? "").trim();
  if (command === "" || command.length > LONGEST_COMMAND) return "";
  const facts = factsOf(event).map(({ field, value }) => [field, scalar(value)]);
  const about = Object.fromEntries(facts) as Record<string, Scalar>;
  return entryOf(new Document({ command: scalar(command), ...about, expect: effect, rule: id }));
}

/** A document as an entry of a list. */
function entryOf(document: Document): string {
  const lines = escaped(document.toString(WRITING)).trimEnd().split("\n");
  return lines.map((line, at) => `${at === 0 ? "- " : "  "}${line}\n`).join("");
}

/** Words with another meaning in YAML 1.1. */
const WORD = /^(?:true|false|null|yes|no|on|off|y|n)$/i;

// Long texts stay on one line.
const WRITING = {
  lineWidth: 0,
  doubleQuotedMinMultiLineLength: Infinity,
  flowCollectionPadding: false,
} as const;

function oneLine(node: Scalar): string {
  return escaped(new Document(node).toString(WRITING)).trimEnd();
}

/** A text: plain if it is simple and unambiguous, otherwise in double quotes. */
function scalar(text: string): Scalar {
  const isSimple = /^[A-Za-z][\w./-]*(?: [\w./-]+)*$/.test(text) && !WORD.test(text);
  const node = new Scalar(text);
  node.type = isSimple ? "PLAIN" : "QUOTE_DOUBLE";
  return node;
}

/** Escapes unprintable characters and line separators, in double quotes and in comments. */
function escaped(yaml: string): string {
  return yaml.replace(
    /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]/gu, // with the flag u, surrogates match only unpaired
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

function idsIn(root: YAMLMap | undefined): readonly unknown[] {
  const rules = root?.get("rules");
  return isSeq(rules) ? rules.items.map((rule) => (isMap(rule) ? rule.get("id") : undefined)) : [];
}

/** A rule id that says what the rule is about, and that the policy does not use yet. */
function freeId(event: DraftEvent, effect: Effect, taken: ReadonlySet<unknown>): string {
  const source = event.command ?? event.capability ?? event.provider ?? event.resource ?? "";
  const words = source
    .slice(0, LONGEST_COMMAND)
    .toLowerCase()
    .match(/[a-z0-9]+/g);
  const name = [effect, ...(words ?? []).slice(0, ID_WORDS)].join("-").slice(0, 60);
  for (let number = 1; ; number++) {
    const id = number === 1 ? name : `${name}-${number}`;
    if (!taken.has(id)) return id;
  }
}

/** The words before the first one that looks like an option, a path or a value: at most three. */
function leadingWords(command: string): string {
  const words = command.slice(0, 4 * LONGEST_COMMAND).split(/\s+/);
  const end = words.findIndex((word, at) => at > 0 && !/^[a-z][a-z0-9-]{0,40}$/i.test(word));
  return cut(words.slice(0, Math.min(end === -1 ? ID_WORDS : end, ID_WORDS)).join(" "));
}

function cut(text: string): string {
  return text.length <= LONGEST_VALUE ? text : Array.from(text.slice(0, LONGEST_VALUE)).join("");
}

function indented(text: string, by: number): string {
  return text.replace(/^(?=.)/gm, " ".repeat(by));
}
