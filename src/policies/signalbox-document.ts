/**
 * Documents that declare `schema: signalbox/policy/v1`, the schema that Signalbox itself can evaluate.
 * They are read strictly, since a rule with a misspelled key would silently match something else. Their
 * tests are run, since a policy that fails its own tests must not be published.
 */
import { isAlias, isMap, isScalar, type Node, type YAMLMap } from "yaml";
import { consumers } from "../core/decision.ts";
import { nearest } from "../core/nearest.ts";
import { oneOf } from "../core/validate.ts";
import {
  CAPABILITY,
  MATCH_KEYS,
  PATTERN_KEYS,
  ROOT_KEYS,
  RULE_KEYS,
  SCHEMA_NAME,
  TEST_KEYS,
} from "./document-keys.ts";
import {
  FREE_KEY,
  matchSchema,
  patternSchema,
  policyDocument,
  ruleSchema,
  testSchema,
} from "./document-schema.ts";
import type { Aliases } from "./document-nodes.ts";
import { decisionOf, evaluate } from "./evaluate.ts";
import type { CommandPattern, RuleMatch, PolicyDocument, PolicyTest, Rule } from "./rules.ts";
import { byNoRule } from "./reported-command.ts";
import { GLOB_FIELDS, type GlobField } from "./glob-fields.ts";
import { globOf, matchesGlob } from "./glob.ts";
import type { Problems } from "./problems.ts";
import type { Effect } from "./schema.ts";
import { given, optionalOf, StrictReader, type Value } from "./strict-reader.ts";
import { TooMuchWork, StepBudget } from "./step-budget.ts";

/** A budget without a limit, for the comparison of consumers: they are three short words. */
const UNCOUNTED = new StepBudget(Infinity);

const CAPABILITY_ID = new RegExp(CAPABILITY, "u");
const FREE = new RegExp(FREE_KEY, "u");
/** Values of `schema` that are ours or will be: no other program's schema begins like this. */
const OUR_SCHEMAS = /^\s*signalbox\b/i;

/** Whether a document declares our schema. */
export function isSignalboxDocument(root: YAMLMap, aliases: Aliases): boolean {
  const declared = root.get("schema", true) as Node | undefined;
  const node = isAlias(declared) ? aliases.get(declared) : declared;
  return isScalar(node) && node.value === SCHEMA_NAME;
}

/**
 * Adds a problem if the document has a misspelled `schema`, key or value. A document of another schema is published
 * unchecked, so a wrong letter here would switch off all checks, and no guard could decide by the document.
 */
export function refuseMisspelledSchema(root: YAMLMap, aliases: Aliases, problems: Problems): void {
  const reader = new StrictReader(aliases, problems);
  for (const pair of root.items) {
    const key = reader.value(pair.key as Node, "");
    const name = textIn(key);
    const at = reader.value((pair.value ?? pair.key) as Node, "schema");
    const value = textIn(at);
    if (name === undefined || value === undefined) continue;
    if (name === "schema" && isNearlyOurs(value)) {
      reader.refuse(at, `expected ${SCHEMA_NAME}, found "${value}"`);
    } else if (value === SCHEMA_NAME && nearest(name, ["schema"])) {
      reader.refuse({ ...key, place: name }, 'unknown key, did you mean "schema"?');
    }
  }
}

function isNearlyOurs(schema: string): boolean {
  return OUR_SCHEMAS.test(schema) || nearest(schema, [SCHEMA_NAME]) !== undefined;
}

function textIn({ node }: Value): string | undefined {
  return isScalar(node) && typeof node.value === "string" ? node.value : undefined;
}

/** The result of reading a document of our schema, with its tests. */
export interface Reading {
  readonly document: PolicyDocument;
  /** The offset of a rule in the text. */
  readonly offsetOfRule: (id: string) => number | undefined;
  /** The offsets of the start and the end of each rule, in their order. */
  readonly spans: () => readonly (readonly [start: number, end: number])[];
  /** Runs the tests. Each failing test is a problem, and so is the test that exceeds the limit of `work`. */
  readonly runTests: (work: StepBudget) => void;
}

/**
 * Reads a document of our schema.
 *
 * @returns `undefined` for a document of a wrong shape; its faults are added to `problems`
 */
export function readSignalboxDocument(
  root: YAMLMap,
  aliases: Aliases,
  problems: Problems,
): Reading | undefined {
  const reader = new StrictReader(aliases, problems);
  const before = problems.count;
  const { document, rules, tests } = readRoot(reader, reader.value(root, ""));
  if (problems.count > before) return undefined;
  const offsetOfRule = (id: string): number | undefined =>
    rules[document.rules.findIndex((rule) => rule.id === id)]?.offset;
  const spans = () => rules.map(spanOf);
  const runTests = (work: StepBudget): void => {
    for (const [index, test] of document.tests.entries()) {
      const at = tests[index] as Value;
      try {
        const fault = faultOf(test, document, work);
        if (fault !== undefined) reader.refuse(at, fault);
      } catch (error) {
        if (!(error instanceof TooMuchWork)) throw error;
        return reader.refuse(at, `running the tests up to this one ${error.message}`);
      }
    }
  };
  return { document, offsetOfRule, spans, runTests };
}

/** The span of a value. The span of an alias is empty, since its text is elsewhere. */
function spanOf({ node, offset }: Value): readonly [start: number, end: number] {
  const [start = -1, end = offset] = node.range ?? [];
  return [offset, start < offset ? offset : end];
}

/** A document, and the places of its rules and tests. */
interface Root {
  readonly document: PolicyDocument;
  readonly rules: readonly Value[];
  readonly tests: readonly Value[];
}

function readRoot(reader: StrictReader, root: Value): Root {
  const { properties: shape, required } = policyDocument;
  const keys = reader.mapping(root, ROOT_KEYS, (key) => FREE.test(key)) ?? new Map();
  const optional = optionalOf(keys);
  reader.hasAll(root, keys, required);
  optional("metadata", (at) => reader.mapping(at, [], () => true));
  const rules = optional("rules", (at) => reader.entries(at, shape.rules)) ?? [];
  const tests = optional("tests", (at) => reader.entries(at, shape.tests)) ?? [];
  const document = given({
    name: optional("name", (at) => reader.leaf(at, shape.name)),
    description: optional("description", (at) => reader.leaf(at, shape.description)),
    default: optional("default", (at) => reader.leaf(at, shape.default)) ?? shape.default.default,
    mode: optional("mode", (at) => reader.leaf(at, shape.mode)),
    rules: readRules(reader, rules),
    tests: tests.map((test) => readTest(reader, test)).filter((test) => test !== undefined),
  });
  return { document, rules, tests };
}

function readRules(reader: StrictReader, entries: readonly Value[]): readonly Rule[] {
  const ids = new Set<string>();
  const rules: Rule[] = [];
  for (const entry of entries) {
    const rule = readRule(reader, entry);
    if (!rule) continue;
    if (ids.has(rule.id)) reader.refuse(entry, `another rule has the id "${rule.id}"`);
    ids.add(rule.id);
    rules.push(rule);
  }
  return rules;
}

function readRule(reader: StrictReader, at: Value): Rule | undefined {
  const { properties: shape, required } = ruleSchema;
  const keys = reader.mapping(at, RULE_KEYS);
  if (!keys || !reader.hasAll(at, keys, required)) return undefined;
  const optional = optionalOf(keys);
  const id = optional("id", (value) => reader.leaf(value, shape.id));
  const effect = optional("effect", (value) => reader.leaf(value, shape.effect));
  const match = optional("match", (value) => readMatch(reader, value));
  const rest = {
    description: optional("description", (value) => reader.leaf(value, shape.description)),
    reason: optional("reason", (value) => reader.leaf(value, shape.reason)),
    enabled:
      optional("enabled", (value) => reader.leaf(value, shape.enabled)) ?? shape.enabled.default,
    except: optional("except", (value) => readExceptions(reader, value, effect)),
  };
  if (!id || !effect || !match) return undefined;
  return given({ id, effect, match, ...rest });
}

/** Reads the exceptions of a denying rule. Allowing rules cannot have exceptions: a denying rule does that job. */
function readExceptions(
  reader: StrictReader,
  at: Value,
  effect: Effect | undefined,
): readonly RuleMatch[] | undefined {
  if (effect === "allow") {
    return reader.refuse(at, "expected only in rules that deny; write a rule that denies instead");
  }
  const { except } = ruleSchema.properties;
  const matches = reader.entries(at, except)?.map((entry) => {
    const isEmpty = isMap(entry.node) && entry.node.items.length === 0;
    return isEmpty ? reader.refuse(entry, "expected at least one key") : readMatch(reader, entry);
  });
  return matches as readonly RuleMatch[] | undefined; // an invalid exception is a problem already
}

function readMatch(reader: StrictReader, at: Value): RuleMatch | undefined {
  const keys = reader.mapping(at, MATCH_KEYS);
  if (!keys) return undefined;
  const { properties: shape } = matchSchema;
  const optional = optionalOf(keys);
  const commands = optional("commands", (list) =>
    reader.entries(list, shape.commands)?.map((entry) => readPattern(reader, entry)),
  );
  const globs = GLOB_FIELDS.map((field) => {
    const entries = optional(field, (list) => reader.entries(list, shape[field]));
    return [field, entries?.map((entry) => readGlob(reader, field, entry))] as const;
  });
  // An invalid entry is a problem already, and a document with problems is not used.
  return given({ commands, ...Object.fromEntries(globs) }) as RuleMatch;
}

function readPattern(reader: StrictReader, at: Value): CommandPattern | undefined {
  const keys = reader.mapping(at, PATTERN_KEYS);
  if (!keys) return undefined;
  const [only, ...others] = keys;
  const hasUnknown = isMap(at.node) && at.node.items.length > keys.size; // a problem already
  if (!only && hasUnknown) return undefined;
  if (!only || others.length > 0) {
    return reader.refuse(at, "expected one of exact, prefix or glob");
  }
  const text = reader.leaf(only[1], patternSchema.properties[only[0]]);
  return text === undefined ? undefined : ({ [only[0]]: text } as unknown as CommandPattern);
}

function readGlob(reader: StrictReader, field: GlobField, at: Value): string | undefined {
  if (field === "capabilities") return readCapability(reader, at, "*");
  const pattern = reader.leaf(at, matchSchema.properties[field].items);
  if (pattern === undefined) return undefined;
  const glob = globOf(pattern);
  if (field === "consumers" && !consumers.some((word) => matchesGlob(glob, word, UNCOUNTED))) {
    return reader.refuse(at, `expected ${oneOf(consumers)}, found "${pattern}"`);
  }
  return pattern;
}

function readTest(reader: StrictReader, at: Value): PolicyTest | undefined {
  const { properties: shape, required } = testSchema;
  const keys = reader.mapping(at, TEST_KEYS);
  if (!keys || !reader.hasAll(at, keys, required)) return undefined;
  const optional = optionalOf(keys);
  const leaf = <K extends (typeof TEST_KEYS)[number]>(key: K) =>
    optional(key, (value) => reader.leaf(value, shape[key]));
  const command = leaf("command");
  const expect = leaf("expect");
  const rest = {
    provider: leaf("provider"),
    capability: optional("capability", (value) => readCapability(reader, value)),
    consumer: leaf("consumer"),
    executor: leaf("executor"),
    resource: leaf("resource"),
    rule: leaf("rule"),
  };
  if (!keys.has("command") && !keys.has("capability")) {
    return reader.refuse(at, "expected a command, or the capability of a tool that runs none");
  }
  if (!expect || (keys.has("command") && !command)) return undefined;
  return given({ command, expect, ...rest });
}

/** @param also a text that is accepted besides ids */
function readCapability(reader: StrictReader, at: Value, also?: string): string | undefined {
  const id = reader.text(at);
  if (id === undefined || id === also || CAPABILITY_ID.test(id)) return id;
  return reader.refuse(at, `expected <provider>/<name>, found "${id}"`);
}

function faultOf(test: PolicyTest, document: PolicyDocument, work: StepBudget): string | undefined {
  const { decision, rule, doubt, program } = evaluate(document, test, work);
  const isExpected = decision === decisionOf(test.expect);
  if (isExpected && (test.rule === undefined || test.rule === rule)) return undefined;
  const wanted = `${test.expect}${test.rule === undefined ? "" : ` by rule "${test.rule}"`}`;
  const decided = decision === "ALLOWED" ? "allow" : "deny";
  const by = rule === null ? byNoRule(test.command) : `by rule "${rule}"`;
  const unallowed = program === undefined ? "" : `: no rule allows this use of ${program}`;
  const why = doubt === undefined ? unallowed : `: it cannot be split because of ${doubt}`;
  return `expected ${wanted}, but it is decided ${decided} ${by}${why}`;
}
