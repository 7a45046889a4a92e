/** The texts of drafted rules, exceptions and tests: YAML that is correct for any value of an event. */
import { Document, Scalar, type YAMLMap, type YAMLSeq } from "yaml";
import type { ListEntry } from "./document-edit.ts";
import { factsOf, isNarrow, LONGEST_VALUE, type DraftEvent } from "./draft-event.ts";
import { isToolUse } from "./reported-command.ts";
import type { Effect } from "./schema.ts";
import { trimmed } from "./trimmed.ts";

/** The longest command that a draft matches as a whole. */
const LONGEST_COMMAND = 2_000;
const LEADING_WORDS = 3;
const ID_WORDS = 3;

/** The narrowest exception for an event: the same command, caller and resource. */
export function exceptionEntry(event: DraftEvent): ListEntry {
  const command = trimmed(event.command ?? "");
  const facts = factsOf(event).filter(
    ({ field }) => command === "" || !["provider", "capability"].includes(field),
  );
  const patternsOf = (): Record<string, unknown> => ({
    ...(command === "" ? {} : { commands: [patternOf(command)] }),
    ...Object.fromEntries(facts.map(({ key, value }) => [key, [scalar(value)]])),
  });
  const document = new Document(patternsOf());
  for (const { value } of (document.contents as YAMLMap).items) (value as YAMLSeq).flow = true;
  const shown = { ...event, id: oneLine(scalar(event.id)) }; // an id may contain line breaks
  const comment = `# ${origin(shown)}; remove a line to widen the exception\n`;
  const flow = new Document(patternsOf()).toString({ ...WRITING, collectionStyle: "flow" });
  return { block: comment + entryOf(document), flow: escaped(flow).trimEnd() };
}

/** The pattern for a whole command, or for its first words if the command is too long for a rule. */
function patternOf(command: string): Record<string, Scalar> {
  if (command.length <= LONGEST_COMMAND) return { exact: scalar(command) };
  return { prefix: scalar(leadingWords(command)) };
}

function origin({ id, timestamp }: DraftEvent): string {
  return `Drafted from event ${id} of ${timestamp}`;
}

/**
 * A rule for an event's command.
 *
 * @param isExact whether the rule also matches the caller and the resource; otherwise comments name them
 */
export function ruleText(event: DraftEvent, effect: Effect, id: string, isExact: boolean): string {
  const command = trimmed(event.command ?? "");
  const { matched, others } = factsIn(event, isExact);
  const reason = effect === "deny" ? (event.reason ?? "Say why") : undefined;
  const document = new Document({
    id,
    effect,
    description: scalar(origin(event)),
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

/** A descriptive rule id that the policy does not use yet. */
export function freeId(event: DraftEvent, effect: Effect, taken: ReadonlySet<unknown>): string {
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

/** Says, behind "A new rule allows it", for whom the rule of `ruleText` does. */
export function scopeWords(event: DraftEvent, isExact: boolean): string {
  const { matched, others } = factsIn(event, isExact);
  if (matched.length === 0) {
    const narrower = others.length > 0 ? ": remove the # before a field to narrow it" : "";
    return `, for everybody and on every resource${narrower}`;
  }
  const fields = matched.map(({ field }) => field);
  return `, with the same ${fields.join(", ").replace(/, ([^,]*)$/, " and $1")}`;
}

/** The values of an event that a rule for it matches beside the command, and those that only its comments name. */
function factsIn(event: DraftEvent, isExact: boolean) {
  const hasCommand = trimmed(event.command ?? "") !== "";
  const facts = factsOf(event);
  const matched = isExact || !hasCommand ? facts.filter(isNarrow) : [];
  return { matched, others: facts.filter((fact) => !matched.includes(fact)) };
}

/** Adds the pattern for the whole command, or for its first words if the command is too long for a rule. */
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
export function testText(event: DraftEvent, effect: Effect, rule: string | null): string {
  const command = trimmed(event.command ?? "");
  if (command.length > LONGEST_COMMAND) return "";
  const facts = factsOf(event).map(({ field, value }) => [field, scalar(value)]);
  const about = Object.fromEntries(facts) as Record<string, Scalar>;
  if (command === "" && !(isToolUse(event) && about["capability"])) return "";
  return entryOf(
    new Document({
      ...(command !== "" && { command: scalar(command) }),
      ...about,
      expect: effect,
      ...(rule !== null && { rule: scalar(rule) }),
    }),
  );
}

/** The test that expects the opposite decision; empty if no test can express it. */
export function oppositeOf(event: DraftEvent, effect: Effect): string {
  return testText(event, effect === "deny" ? "allow" : "deny", null);
}

/** A document as an entry of a list. */
function entryOf(document: Document): string {
  const lines = escaped(document.toString(WRITING)).trimEnd().split("\n");
  return lines.map((line, at) => `${at === 0 ? "- " : "  "}${line}\n`).join("");
}

/** Words that have another meaning in YAML 1.1. */
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

/** The words before the first one that looks like an option, a path or a value: at most three. */
function leadingWords(command: string): string {
  const words = command.slice(0, 4 * LONGEST_COMMAND).split(/\s+/);
  const end = words.findIndex((word, at) => at > 0 && !/^[a-z][a-z0-9-]{0,40}$/i.test(word));
  return cut(words.slice(0, Math.min(end === -1 ? LEADING_WORDS : end, LEADING_WORDS)).join(" "));
}

function cut(text: string): string {
  return text.length <= LONGEST_VALUE ? text : Array.from(text.slice(0, LONGEST_VALUE)).join("");
}
