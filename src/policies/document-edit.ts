/**
 * Edits policy documents at the positions of their parsed nodes, so that all other lines stay as they
 * are. The result of each edit is parsed again. If it does not have the intended change, the edit counts
 * as impossible.
 */
import { isMap, isScalar, isSeq, type Node, type YAMLMap, type YAMLSeq } from "yaml";
import { parseDocument } from "./document.ts";
import type { Aliases } from "./document-nodes.ts";
import { Problems } from "./problems.ts";
import { isSignalboxDocument } from "./signalbox-document.ts";
import { parsingSteps, type StepBudget } from "./step-budget.ts";

/** A document of our schema in block style: its text and its parsed form. */
export interface EditableDocument {
  readonly text: string;
  readonly root: YAMLMap;
  readonly aliases: Aliases;
}

/** The text of a list entry in block style, and in flow style. */
export interface ListEntry {
  readonly block: string;
  readonly flow: string;
}

/**
 * Parses a document of our schema; `undefined` for other documents, and for documents in flow style.
 *
 * @param work counts the parsing, since each edit parses the whole document again
 * @throws TooMuchWork when the work exceeds its limit
 */
export function editable(text: string, work: StepBudget): EditableDocument | undefined {
  work.spend(parsingSteps(text, work.limit));
  const { root, aliases } = parseDocument(text, new Problems(text), work);
  if (!root || root.flow || !isSignalboxDocument(root, aliases)) return undefined;
  return { text, root, aliases };
}

/** The lists of the root that can get entries; a document may be without tests. */
type ListKey = "rules" | "tests";

/**
 * The document with a new first entry in each of some lists of its root, in one edit; `undefined` if a list is in flow
 * style, or missing.
 */
export function withEntries(
  { text, root }: EditableDocument,
  blocks: Readonly<Partial<Record<ListKey, string>>>,
  work: StepBudget,
): EditableDocument | undefined {
  const keys = (Object.keys(blocks) as ListKey[]).sort(
    (a, b) => placeOf(root, b) - placeOf(root, a),
  );
  let edited: string | undefined = text;
  for (const key of keys) {
    // From the last list to the first one, so that the offsets of those before it still hold.
    edited = edited === undefined ? undefined : textWithEntry(edited, root, key, blocks[key] ?? "");
  }
  const result = edited === undefined ? undefined : editable(edited, work);
  const hasAll = keys.every((key) => entriesIn(result, key) === entriesIn({ root }, key) + 1);
  return hasAll ? result : undefined;
}

/** The offset of a list of the root. A list that is missing goes to the end. */
function placeOf(root: YAMLMap, key: string): number {
  const pair = pairOf(root, key);
  return pair ? keyEnd(pair) : Infinity;
}

function entriesIn(document: Pick<EditableDocument, "root"> | undefined, key: string): number {
  const list = document?.root.get(key);
  return isSeq(list) ? list.items.length : 0;
}

function textWithEntry(
  text: string,
  root: YAMLMap,
  key: ListKey,
  block: string,
): string | undefined {
  const pair = pairOf(root, key);
  if (!pair && key === "tests") return `${text.trimEnd()}\ntests:\n${indented(block, 2)}`;
  const list = pair?.value;
  if (!pair || !isSeq(list) || !list.range) return undefined;
  const [start, end] = list.range;
  const isEmpty = list.items.length === 0;
  if (list.flow && !isEmpty) return undefined;
  const kept = isEmpty ? text.slice(0, start).trimEnd() + text.slice(end) : text;
  const margin = isEmpty ? 2 : columnOf(text, start);
  return withLines(kept, keyEnd(pair), indented(block, margin));
}

/** The document with a new first exception in a rule; `undefined` if the rule cannot be edited. */
export function withException(
  document: EditableDocument,
  id: string,
  exception: ListEntry,
  work: StepBudget,
): EditableDocument | undefined {
  const rule = ruleOf(document.root, id);
  const text = rule && textWithException(document.text, rule, exception);
  const result = text === undefined ? undefined : editable(text, work);
  return countOf(result, id) === countOf(document, id) + 1 ? result : undefined;
}

/** The offset of the first exception of a rule. */
export function offsetOfException({ root }: EditableDocument, id: string): number | undefined {
  const except = ruleOf(root, id)?.get("except");
  return isSeq(except) ? (except.items[0] as Node).range?.[0] : undefined;
}

function textWithException(
  text: string,
  rule: YAMLMap,
  { block, flow }: ListEntry,
): string | undefined {
  const pair = pairOf(rule, "except");
  if (!pair) return withNewKey(text, rule, "except", { block, flow });
  const list = pair.value;
  if (!isSeq(list) || !list.range) return undefined;
  if (list.flow) return withFlowEntry(text, list, flow);
  return withLines(text, keyEnd(pair), indented(block, columnOf(text, list.range[0])));
}

/** The text with a new list as the last key of a mapping. */
function withNewKey(
  text: string,
  map: YAMLMap,
  key: string,
  { block, flow }: ListEntry,
): string | undefined {
  if (!map.range) return undefined;
  if (map.flow) return withFlowEntry(text, map, `${key}: [${flow}]`);
  const margin = columnOf(text, map.range[0]);
  const end = endOf(map);
  // After the last value and the comment in its line. A block scalar ends with its line break.
  return withLines(text, end - 1, indented(`${key}:\n${indented(block, 2)}`, margin));
}

/** The text with a new last entry in a non-empty collection in flow style. */
function withFlowEntry(text: string, { range }: YAMLMap | YAMLSeq, entry: string): string {
  const end = (range?.[1] ?? 1) - 1; // the closing bracket
  const before = text.slice(0, end);
  const kept = before.trimEnd();
  // An entry after a comment in the last line would become part of the comment.
  const isOneLine = !before.slice(kept.length).includes("\n");
  const comma = kept.endsWith(",") ? "" : ",";
  const at = isOneLine ? kept : before;
  return `${at}${comma} ${entry}${isOneLine ? before.slice(kept.length) : ""}${text.slice(end)}`;
}

/** The text with further lines below the line of an offset. */
function withLines(text: string, offset: number, lines: string): string {
  const lineEnd = text.indexOf("\n", offset);
  if (lineEnd === -1) return `${text}\n${lines}`;
  return text.slice(0, lineEnd + 1) + lines + text.slice(lineEnd + 1);
}

function ruleOf(root: YAMLMap, id: string): YAMLMap | undefined {
  const rules = root.get("rules");
  if (!isSeq(rules)) return undefined;
  return rules.items.find((rule): rule is YAMLMap => isMap(rule) && rule.get("id") === id);
}

/** The number of exceptions of a rule; -1 if the document does not have the rule. */
function countOf(document: EditableDocument | undefined, id: string): number {
  const rule = document && ruleOf(document.root, id);
  if (!rule) return -1;
  const except = rule.get("except");
  return isSeq(except) ? except.items.length : 0;
}

function pairOf(map: YAMLMap, key: string) {
  return map.items.find((one) => isScalar(one.key) && one.key.value === key);
}

function keyEnd({ key }: { readonly key: unknown }): number {
  return (isScalar(key) && key.range?.[1]) || 0;
}

/** The end of a node's last value. The library's range of a collection in block style may reach beyond it. */
function endOf(node: Node): number {
  const isBlock = (isMap(node) || isSeq(node)) && !node.flow;
  const last = isBlock ? node.items.at(-1) : undefined;
  if (last === undefined) return node.range?.[1] ?? 0;
  if (isSeq(node)) return endOf(last as Node);
  const { key, value } = last as YAMLMap["items"][number];
  return Math.max(endOf(key as Node), value ? endOf(value as Node) : 0);
}

function columnOf(text: string, offset: number): number {
  return offset - (text.lastIndexOf("\n", offset - 1) + 1);
}

/** Indents the non-empty lines of a text. */
export function indented(text: string, by: number): string {
  return text.replace(/^(?=.)/gm, " ".repeat(by));
}
