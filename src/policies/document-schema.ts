/**
 * The shape of documents of the schema `signalbox/policy/v1`, as a JSON Schema (2020-12). The checker reads
 * documents by it, and the service offers it to editors. The checker alone has the rules that the schema
 * cannot express: ids of rules are unique, a pattern for consumers matches one, and the tests pass.
 */
import { consumers } from "../core/decision.ts";
import { boolean, word } from "../core/schema-parts.ts";
import {
  CAPABILITY,
  SCHEMA_NAME,
  type MATCH_KEYS,
  type PATTERN_KEYS,
  type ROOT_KEYS,
  type RULE_KEYS,
  type TEST_KEYS,
} from "./document-keys.ts";
import { effects, modes } from "./schema.ts";

/** The key of anything that the checker does not read. */
export const FREE_KEY = "^x-";
const NOT_BLANK = "\\S";

type Described = Readonly<Record<string, unknown>> & { readonly description: string };

/** The schema of a mapping with the given keys. */
interface Mapping<K extends string> extends Described {
  readonly properties: Readonly<Record<K, Described>>;
}

function text(description: string) {
  return { type: "string", pattern: NOT_BLANK, description } as const;
}

function capability(description: string, others = "") {
  return { type: "string", pattern: others + CAPABILITY, description } as const;
}

/** A list with at least one entry. */
function filled<const S>(description: string, items: S) {
  return { type: "array", minItems: 1, items, description } as const;
}

const pattern = {
  type: "object",
  description: "A pattern for commands, with one of the keys.",
  minProperties: 1,
  maxProperties: 1,
  properties: {
    exact: text("The whole text, or one whole command of it."),
    prefix: text("The first words of a command."),
    glob: text("A command, in which `*` stands for any number of characters."),
  },
  additionalProperties: false,
} as const satisfies Mapping<(typeof PATTERN_KEYS)[number]>;

const match = {
  type: "object",
  description: "Every key must match, by any entry of its list. `{}` matches every command.",
  properties: {
    commands: filled("Patterns for the text of the command.", pattern),
    providers: filled(
      "Patterns for the provider: the first word of a command that names none.",
      text("A provider; `*` stands for any number of characters."),
    ),
    capabilities: filled(
      "Patterns for the capability.",
      capability("`<provider>/<name>` or `*`; `*` stands for any number of characters.", "^\\*$|"),
    ),
    consumers: filled("Patterns for the kind of caller.", {
      ...text("One of `human`, `ai` and `ci`, or a pattern for some of them."),
      examples: consumers,
    }),
    executors: filled(
      "Patterns for the name of the caller.",
      text("A name; `*` stands for any number of characters."),
    ),
    resources: filled(
      "Patterns for the resource that the command acts on.",
      text("A resource; `*` stands for any number of characters."),
    ),
  },
  additionalProperties: false,
} as const satisfies Mapping<(typeof MATCH_KEYS)[number]>;

const rule = {
  type: "object",
  description: "A rule applies to the commands that its `match` matches.",
  required: ["id", "effect", "match"],
  properties: {
    id: text("The id of the rule, unique in the document."),
    effect: word("The decision of the rule. Denying rules override allowing ones.", effects),
    description: text("A note for the readers of the document."),
    reason: text("The reason of the decision: shown with it, and recorded in the audit."),
    enabled: { ...boolean("`false` switches the rule off."), default: true },
    match,
    except: filled("Commands that a denying rule does not apply to.", {
      ...match,
      description: "An exception, with at least one key. Every key must match.",
      minProperties: 1,
    }),
  },
  additionalProperties: false,
  if: { properties: { effect: { const: "allow" } }, required: ["effect"] },
  then: { properties: { except: false } },
} as const satisfies Mapping<(typeof RULE_KEYS)[number]>;

const test = {
  type: "object",
  description: "A command, or a tool that runs none, and the decision that the document must make.",
  required: ["expect"],
  anyOf: [
    { properties: { command: true }, required: ["command"] },
    { properties: { capability: true }, required: ["capability"] },
  ],
  properties: {
    command: text(
      "The text of the command. Leave it out for a tool that runs none, which its `capability` names.",
    ),
    provider: text("The program or service that the command uses."),
    capability: capability("The capability that the command uses, `<provider>/<name>`."),
    consumer: word("The kind of caller.", consumers),
    executor: text("The name of the caller."),
    resource: text("The resource that the command acts on."),
    expect: word("The expected decision.", effects),
    rule: text("The id of the rule that must decide. Leave it out when the default decides."),
  },
  additionalProperties: false,
} as const satisfies Mapping<(typeof TEST_KEYS)[number]>;

/** The JSON Schema of a document. */
export const policyDocument = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  title: SCHEMA_NAME,
  description:
    "A policy of Signalbox: rules that allow or deny commands. The check of the service also runs the tests of the document.",
  type: "object",
  required: ["schema", "rules"],
  properties: {
    schema: { ...word("The schema of the document.", [SCHEMA_NAME]) },
    name: text("A name for people."),
    description: text("The purpose of the policy."),
    metadata: {
      type: "object",
      description: "Any keys and values. The service does not read them.",
    },
    default: { ...word("The decision when no rule applies.", effects), default: "deny" },
    mode: {
      ...word(
        "`observe` lets every command run, and reports the decision that would have been made.",
        modes,
      ),
      default: "enforce",
    },
    rules: { type: "array", items: rule, description: "The rules; their order decides nothing." },
    tests: {
      type: "array",
      items: test,
      description:
        "Commands and the decisions that they must get. A failing test refuses the publish.",
    },
  },
  patternProperties: { [FREE_KEY]: { description: "Anything. The service does not read it." } },
  additionalProperties: false,
} as const satisfies Mapping<(typeof ROOT_KEYS)[number]>;

export { match as matchSchema, pattern as patternSchema, rule as ruleSchema, test as testSchema };
