/**
 * The rules for policy documents of every schema: one YAML 1.2 document whose root is a non-empty
 * mapping. The library's three stages are called one by one, because its combined call is unsafe for
 * untrusted texts. The composer recurses, so the depth is bounded while tokens are read. Its check for
 * duplicate keys is quadratic, and it resolves aliases only when a value is made; `document-nodes.ts`
 * does both in one pass.
 */
import { Composer, type Document, isMap, Lexer, Parser, type CST, type YAMLError } from "yaml";
import type { YAMLMap } from "yaml";
import { type Aliases, checkNodes, MAX_NODE_DEPTH } from "./document-nodes.ts";
import { withoutStackTraces } from "./stack-traces.ts";
import type { Problems } from "./problems.ts";
import type { StepBudget } from "./step-budget.ts";

/** The largest document, in bytes of UTF-8. */
export const MAX_DOCUMENT_BYTES = 1 << 20;

/**
 * The most lexical tokens of a document. The library makes several objects of each token, up to 900
 * bytes, so this limit bounds the memory of a check. 1 MiB of rules in block style has 240,000 tokens.
 */
export const MAX_TOKENS = 250_000;

const OPTIONS = {
  schema: "core",
  version: "1.2",
  merge: false,
  resolveKnownTags: false, // `!!set`, `!!binary` and others belong to YAML 1.1
  uniqueKeys: false,
  prettyErrors: false,
  strict: true,
  logLevel: "silent",
} as const;

// oxlint-disable-next-line no-control-regex -- YAML 1.2 §5.1 forbids these characters everywhere
const FORBIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f]/;

export interface ParsedDocument {
  /** `undefined` if there are problems. */
  readonly root: YAMLMap | undefined;
  readonly aliases: Aliases;
}

const NOTHING: ParsedDocument = { root: undefined, aliases: new Map() };

/**
 * Parses a policy document in linear time, a few microseconds a token.
 *
 * @param problems receives the problems of the document
 * @param work counts the targets of aliases
 * @throws TooMuchWork when the targets exceed the limit of `work`
 */
export function parseDocument(yaml: string, problems: Problems, work: StepBudget): ParsedDocument {
  const document = compose(yaml, problems);
  const root = document?.contents;
  if (problems.count > 0 || !document) return NOTHING;
  if (document.directives?.yaml.version !== "1.2") {
    problems.add(0, "The document declares another YAML version than 1.2");
  }
  if (!isMap(root) || root.items.length === 0) {
    problems.add(
      root?.range?.[0] ?? 0,
      "The root of the document must be a mapping with at least one key",
    );
    return NOTHING;
  }
  const aliases = checkNodes(root, problems, work);
  return { root: problems.count === 0 ? root : undefined, aliases };
}

function compose(yaml: string, problems: Problems): Document | undefined {
  if (Buffer.byteLength(yaml, "utf8") > MAX_DOCUMENT_BYTES) {
    problems.add(0, "The document is larger than 1 MiB");
    return undefined;
  }
  const forbidden = FORBIDDEN.exec(yaml);
  if (forbidden) {
    problems.add(forbidden.index, "Control characters must be written as escapes in double quotes");
    return undefined;
  }
  const tokens = tokenize(yaml, problems);
  // The library makes an Error for each fault.
  return tokens && withoutStackTraces(() => composeOne(tokens, problems, yaml));
}

/**
 * Reads the tokens of a text. Stops at the first token that is nested too deep or exceeds `MAX_TOKENS`,
 * before the text takes much memory.
 */
function tokenize(yaml: string, problems: Problems): readonly CST.Token[] | undefined {
  const tokens: CST.Token[] = [];
  const parser = new Parser();
  let count = 0;
  for (const lexeme of new Lexer().lex(yaml)) {
    if (++count > MAX_TOKENS) {
      const most = MAX_TOKENS.toLocaleString("en");
      problems.add(parser.offset, `The document has more than ${most} tokens of YAML: shorten it`);
      return undefined;
    }
    for (const token of parser.next(lexeme)) tokens.push(token);
    // Beside the open collections, the stack contains the document and the current value.
    if (parser.stack.length > MAX_NODE_DEPTH + 2) {
      problems.add(parser.offset, `The document nests deeper than ${MAX_NODE_DEPTH} levels`);
      return undefined;
    }
  }
  for (const token of parser.end()) tokens.push(token);
  return tokens;
}

function composeOne(
  tokens: readonly CST.Token[],
  problems: Problems,
  yaml: string,
): Document | undefined {
  const composer = new Composer(OPTIONS);
  let only: Document | undefined;
  for (const document of composer.compose(tokens)) {
    if (only) {
      problems.add(document.range[0], "Expected one document, found another");
      break;
    }
    only = document;
    for (const fault of [...document.errors, ...document.warnings]) {
      problems.add(fault.pos[0], describe(fault, yaml));
    }
  }
  if (!only) {
    const { errors, warnings } = composer.streamInfo();
    for (const fault of [...errors, ...warnings]) problems.add(fault.pos[0], describe(fault, yaml));
    if (problems.count === 0) problems.add(0, "The document is empty: expected a mapping");
  }
  return only;
}

function describe({ code, message, pos }: YAMLError, yaml: string): string {
  switch (code) {
    case "TAG_RESOLVE_FAILED":
      return `The tag "${yaml.slice(pos[0], Math.min(pos[1], pos[0] + 80))}" is unknown, or does not fit its value`;
    case "TAB_AS_INDENT":
      return "Tabs must not be used for indentation";
    case "ALIAS_PROPS":
      return "An alias takes neither anchor nor tag";
    case "RESOURCE_EXHAUSTION":
      return "The document nests too deep";
    default:
      return message;
  }
}
