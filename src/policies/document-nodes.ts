/**
 * One pass over the nodes of a document, for faults that the YAML library finds late, slowly or never:
 * duplicate keys in a mapping, aliases without an anchor, and small texts whose aliases have a huge
 * expansion. Nothing is expanded: every anchored node is measured once, and an alias counts as much as
 * its target.
 */
import { type Alias, isAlias, isMap, isScalar, isSeq, type Node, type Scalar } from "yaml";
import type { YAMLMap } from "yaml";
import type { Problems } from "./problems.ts";
import { NODE_STEPS, type StepBudget } from "./step-budget.ts";

/** The deepest nesting of collections, including collections that aliases refer to. */
export const MAX_NODE_DEPTH = 100;

/** The most nodes that all aliases together may expand to. */
export const MAX_ALIASED_NODES = 20_000;

/** The most characters of text that all aliases together may expand to. */
export const MAX_ALIASED_CHARACTERS = 1 << 20;

export type Aliases = ReadonlyMap<Alias, Node>;

/** The size of a node with its aliases expanded. */
interface Extent {
  readonly nodes: number;
  /** The characters of the scalars. */
  readonly characters: number;
  readonly height: number;
}

interface Anchored {
  readonly node: Node;
  /** `undefined` while the node is still open: an alias inside it would refer to the node around it. */
  extent: Extent | undefined;
}

/**
 * Checks the nodes of a document in the order of the text, and finds the targets of its aliases.
 *
 * @param work counts each alias at the cost of its target
 * @throws TooMuchWork when all aliases exceed its limit
 */
export function checkNodes(root: Node, problems: Problems, work: StepBudget): Aliases {
  const check = new NodeCheck(problems, work);
  check.measure(root, 1);
  return check.aliases;
}

class NodeCheck {
  readonly aliases = new Map<Alias, Node>();
  readonly #problems: Problems;
  readonly #work: StepBudget;
  readonly #anchors = new Map<string, Anchored>();
  readonly #keys = new KeyIdentities(this.aliases);
  #aliasedNodes = 0;
  #aliasedCharacters = 0;

  constructor(problems: Problems, work: StepBudget) {
    this.#problems = problems;
    this.#work = work;
  }

  measure(node: Node, depth: number): Extent {
    if (isAlias(node)) return this.#measureAlias(node, depth);
    if (depth === MAX_NODE_DEPTH + 1 && !isScalar(node)) {
      this.#problems.add(offsetOf(node), `The document nests deeper than ${MAX_NODE_DEPTH} levels`);
    }
    const anchored: Anchored = { node, extent: undefined };
    if (node.anchor) this.#anchors.set(node.anchor, anchored);
    let nodes = 1;
    let characters = isScalar(node) ? sourceLength(node) : 0;
    let height = 0;
    for (const child of this.#childrenOf(node)) {
      const extent = this.measure(child, depth + 1);
      nodes += extent.nodes;
      characters += extent.characters;
      height = Math.max(height, extent.height);
    }
    anchored.extent = { nodes, characters, height: isScalar(node) ? 0 : height + 1 };
    if (isMap(node)) this.#checkKeys(node);
    return anchored.extent;
  }

  #childrenOf(node: Node): readonly Node[] {
    if (isSeq(node)) return node.items as Node[];
    if (!isMap(node)) return [];
    const children: Node[] = [];
    for (const { key, value } of node.items) {
      children.push(key as Node);
      if (value) children.push(value as Node);
    }
    return children;
  }

  #measureAlias(alias: Alias, depth: number): Extent {
    const offset = offsetOf(alias);
    const target = this.#anchors.get(alias.source);
    if (!target?.extent) {
      const fault = target ? "stands inside its own anchor" : "has no anchor before it";
      this.#problems.add(offset, `The alias "*${alias.source}" ${fault}`);
      return { nodes: 1, characters: 0, height: 0 };
    }
    this.aliases.set(alias, target.node);
    this.#countAliased(target.extent, offset);
    const { height } = target.extent;
    if (depth + height - 1 > MAX_NODE_DEPTH) {
      this.#problems.add(
        offset,
        `The aliases nest the document deeper than ${MAX_NODE_DEPTH} levels`,
      );
    }
    return target.extent;
  }

  /** Reports each limit once, at the alias that exceeds it. */
  #countAliased({ nodes, characters }: Extent, offset: number): void {
    this.#work.spend(NODE_STEPS * nodes + characters);
    const [nodesBefore, charactersBefore] = [this.#aliasedNodes, this.#aliasedCharacters];
    this.#aliasedNodes += nodes;
    this.#aliasedCharacters += characters;
    if (nodesBefore <= MAX_ALIASED_NODES && this.#aliasedNodes > MAX_ALIASED_NODES) {
      this.#problems.add(offset, `The aliases stand for more than ${MAX_ALIASED_NODES} nodes`);
    }
    const isLong = this.#aliasedCharacters > MAX_ALIASED_CHARACTERS;
    if (charactersBefore <= MAX_ALIASED_CHARACTERS && isLong) {
      this.#problems.add(offset, "The aliases stand for more than 1 Mi characters");
    }
  }

  #checkKeys(map: YAMLMap): void {
    const seen = new Set<string>();
    for (const { key } of map.items) {
      const identity = this.#keys.of(key as Node);
      if (seen.has(identity)) this.#problems.add(offsetOf(key as Node), duplicate(key as Node));
      seen.add(identity);
    }
  }
}

/**
 * Compares keys by meaning: `a` and `"a"` are one key, `1` and `"1"` are two, and the order in a mapping
 * does not matter. Each collection is reduced to a number once, so that nested keys cost nothing extra.
 */
class KeyIdentities {
  readonly #aliases: Aliases;
  readonly #numbers = new Map<string, string>();
  readonly #collections = new Map<Node, string>();

  constructor(aliases: Aliases) {
    this.#aliases = aliases;
  }

  of(node: Node): string {
    if (isScalar(node)) return scalarIdentity(node);
    if (isAlias(node)) {
      const target = this.#aliases.get(node);
      return target ? this.of(target) : `alias ${node.source}`;
    }
    let identity = this.#collections.get(node);
    if (identity === undefined) {
      identity = this.#numberOf(JSON.stringify(this.#partsOf(node)));
      this.#collections.set(node, identity);
    }
    return identity;
  }

  #partsOf(node: Node): readonly unknown[] {
    if (isSeq(node)) return ["seq", ...node.items.map((item) => this.of(item as Node))];
    if (!isMap(node)) return [];
    const pairs = node.items.map(({ key, value }) =>
      JSON.stringify([this.of(key as Node), value ? this.of(value as Node) : "null"]),
    );
    return ["map", ...pairs.sort()];
  }

  #numberOf(structure: string): string {
    const known = this.#numbers.get(structure);
    if (known !== undefined) return known;
    const identity = `collection ${this.#numbers.size}`;
    this.#numbers.set(structure, identity);
    return identity;
  }
}

function sourceLength({ value, source = "" }: Scalar): number {
  return typeof value === "string" ? value.length : source.length;
}

function scalarIdentity(node: Scalar): string {
  const { value, source } = node;
  if (typeof value === "string") return `string ${value}`;
  // Large integers lose digits as numbers, so their texts are compared.
  const isRounded = Number.isInteger(value) && !Number.isSafeInteger(value);
  return value === null ? "null" : `${typeof value} ${isRounded ? source : String(value)}`;
}

function duplicate(key: Node): string {
  const shown = isScalar(key) ? String(key.source ?? key.value).slice(0, 80) : undefined;
  return shown === undefined ? "Duplicate key" : `Duplicate key "${shown}"`;
}

/** The offset of a node in the text. */
export function offsetOf(node: Node): number {
  return node.range?.[0] ?? 0;
}
