import { isAlias, isMap, isScalar, isSeq, type Node, Scalar } from "yaml";
import { nearest } from "../core/nearest.ts";
import type { BooleanSchema, Infer, StringSchema } from "../core/schema.ts";
import { oneOf, pathOf } from "../core/validate.ts";
import { type Aliases, offsetOf } from "./document-nodes.ts";
import type { Problems } from "./problems.ts";

/** A value of a document: its node (aliases are resolved), its offset, and the name of its place. */
export interface Value {
  readonly node: Node;
  readonly offset: number;
  readonly place: string;
}

interface ArrayShape {
  readonly type: "array";
  readonly minItems?: 1;
}

/** The schema of a value without parts. */
type Leaf = BooleanSchema | Omit<StringSchema, "maxLength" | "ruled">;

/**
 * Reads a document of a fixed shape. An invalid value is recorded as a problem that names its place, and
 * is read as `undefined`, so that one pass finds all problems.
 */
export class StrictReader {
  readonly #aliases: Aliases;
  readonly #problems: Problems;

  constructor(aliases: Aliases, problems: Problems) {
    this.#aliases = aliases;
    this.#problems = problems;
  }

  /** A value for a node at a named place. */
  value(node: Node, place: string): Value {
    const target = isAlias(node) ? this.#aliases.get(node) : node;
    return { node: target ?? node, offset: offsetOf(node), place };
  }

  /** Records a value as invalid. */
  refuse({ offset, place }: Value, message: string): undefined {
    this.#problems.add(offset, place === "" ? message : `${place}: ${message}`);
  }

  /** The values of a mapping. Keys that are neither known nor free are left out and recorded as problems. */
  mapping<K extends string>(
    at: Value,
    known: readonly K[],
    isFree: (key: string) => boolean = () => false,
  ): ReadonlyMap<K, Value> | undefined {
    if (!isMap(at.node)) return this.refuse(at, "expected a mapping");
    const values = new Map<K, Value>();
    for (const pair of at.node.items) {
      const key = this.value(pair.key as Node, at.place);
      const name = isScalar(key.node) ? key.node.value : undefined;
      if (typeof name !== "string") this.refuse(key, "expected a key that is a text");
      else if (known.includes(name as K)) {
        const place = pathOf(at.place, name);
        const node = pair.value as Node | null;
        const absent = { node: new Scalar(null), offset: key.offset, place };
        values.set(name as K, node ? this.value(node, place) : absent);
      } else if (!isFree(name)) this.#refuseKey(key, name, known);
    }
    return values;
  }

  #refuseKey(at: Value, name: string, known: readonly string[]): void {
    if (this.#problems.isFull) return; // the search for a similar word takes time
    const near = nearest(name, known);
    const hint =
      near === undefined ? `known are ${oneOf(known, "and")}` : `did you mean "${near}"?`;
    this.refuse({ ...at, place: pathOf(at.place, name.slice(0, 80)) }, `unknown key, ${hint}`);
  }

  /** Whether all these keys are present; each missing key is a problem. */
  hasAll<K extends string>(
    at: Value,
    keys: ReadonlyMap<K, Value>,
    required: readonly K[],
  ): boolean {
    const missing = required.filter((key) => !keys.has(key));
    for (const key of missing) this.refuse({ ...at, place: pathOf(at.place, key) }, "required");
    return missing.length === 0;
  }

  /** The entries of a list, as a schema says. */
  entries(at: Value, { minItems }: ArrayShape): readonly Value[] | undefined {
    if (!isSeq(at.node)) return this.refuse(at, "expected a list");
    const { items } = at.node;
    if (items.length === 0 && minItems) return this.refuse(at, "expected at least one entry");
    return items.map((item, index) => this.value(item as Node, `${at.place}[${index}]`));
  }

  /** A value without parts, as a schema says. A text must not be blank; other patterns are not checked. */
  leaf<const S extends Leaf>(at: Value, schema: S): Infer<S> | undefined {
    const known = schema.type === "boolean" ? [true, false] : schema.enum;
    const read = known ? this.#oneOf(at, known) : this.text(at);
    return read as Infer<S> | undefined;
  }

  #oneOf(at: Value, known: readonly (string | boolean)[]): string | boolean | undefined {
    const value = isScalar(at.node) ? at.node.value : undefined;
    const found = known.find((one) => one === value);
    return found ?? this.refuse(at, `expected ${oneOf(known.map(String))}`);
  }

  /** A text that is not blank. */
  text(at: Value): string | undefined {
    const value = isScalar(at.node) ? at.node.value : undefined;
    if (typeof value !== "string") return this.refuse(at, "expected a text");
    return value.trim() === "" ? this.refuse(at, "must not be empty") : value;
  }
}

/** A function that reads the value of a key if it is present. */
export function optionalOf<K extends string>(keys: ReadonlyMap<K, Value>) {
  return <T>(key: K, read: (value: Value) => T): T | undefined => {
    const value = keys.get(key);
    return value && read(value);
  };
}

type Given<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** The same object without its undefined properties. */
export function given<T extends object>(fields: T): Given<T> {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as Given<T>;
}
