import { BadInput } from "./errors.ts";
import type { Schema } from "./schema.ts";
import { isObject, pathOf } from "./validate.ts";

/** The labels of a runtime, such as `env: staging`. Read them with `hasLabels`: a key may be `constructor`. */
export type Labels = Readonly<Record<string, string>>;

/** The most labels of a runtime, and of a filter. */
export const MOST_LABELS = 32;
const LONGEST = 64;
const PAIR_LENGTH = 32;
const KEY = {
  pattern: "^[A-Za-z0-9](?:[A-Za-z0-9._/-]*[A-Za-z0-9])?$",
  minLength: 1,
  maxLength: LONGEST,
} as const;
// Controls and line separators break lists and logs; an unpaired surrogate has no form in UTF-8.
const VALUE = {
  pattern: "^[^\\p{Cc}\\p{Cs}\\u2028\\u2029]+$",
  minLength: 1,
  maxLength: LONGEST,
} as const;
const KEY_PATTERN = new RegExp(KEY.pattern, "u");
const VALUE_PATTERN = new RegExp(VALUE.pattern, "u");

/** The rule of labels, as a property of a schema; `checkedLabels` enforces it. */
export function labelsSchema(description: string) {
  return {
    type: "object",
    maxProperties: MOST_LABELS,
    additionalProperties: {
      type: "string",
      description: `A value: 1 to ${LONGEST} characters without control characters.`,
      ruled: VALUE,
    },
    ruled: { propertyNames: KEY },
    description: `${description} At most ${MOST_LABELS} pairs; a key has 1 to ${LONGEST} letters, digits, and \`.\`, \`_\`, \`/\` or \`-\` between them.`,
    examples: [{ env: "staging", team: "payments" }],
  } as const satisfies Schema;
}

/**
 * Checks labels, and sorts them by key.
 *
 * @param place the name of the labels in messages
 * @throws BadInput naming the label that is invalid
 */
export function checkedLabels(given: Labels, place: string): Labels {
  const pairs = Object.entries(given);
  if (pairs.length > MOST_LABELS) throw new BadInput(`${place}: expected at most ${MOST_LABELS}`);
  for (const [key, value] of pairs) {
    if (key.length > LONGEST || !KEY_PATTERN.test(key)) {
      throw new BadInput(
        `${place}: expected keys of 1 to ${LONGEST} letters, digits, and ".", "_", "/" or "-" between them`,
      );
    }
    const characters = value.length <= LONGEST ? value.length : [...value].length;
    if (characters > LONGEST || !VALUE_PATTERN.test(value)) {
      throw new BadInput(
        `${pathOf(place, key)}: expected 1 to ${LONGEST} characters without control characters`,
      );
    }
  }
  return sortedLabels(given);
}

/** The same labels, sorted by key. */
export function sortedLabels(labels: Labels): Labels {
  return Object.fromEntries(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Reads the labels of a stored record; `undefined` for any other value. */
export function storedLabels(value: unknown): Labels | undefined {
  if (!isObject(value)) return undefined;
  const pairs = Object.entries(value).filter(([, text]) => typeof text === "string");
  return Object.fromEntries(pairs) as Labels;
}

/** The length of labels in characters. Each pair counts 32 more, about what it takes in memory without them. */
export function labelLength(labels: Labels | undefined): number {
  let length = 0;
  for (const key in labels) length += PAIR_LENGTH + key.length + (labels[key] as string).length;
  return length;
}

/** Whether a runtime has all of the wanted labels. */
export function hasLabels(own: Labels | undefined, wanted: Labels): boolean {
  return Object.entries(wanted).every(
    ([key, value]) => own !== undefined && Object.hasOwn(own, key) && own[key] === value,
  );
}

/** Whether two sets of labels are equal; both are sorted. */
export function sameLabels(one: Labels | undefined, other: Labels | undefined): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}

/**
 * The labels of a text such as `env:staging, team:web`, as people write several into one field. A comma that no key
 * follows is part of a value.
 */
export function labelsIn(text: string): readonly string[] {
  // A pattern with the white space before the comma would take the square of its length.
  const parts = text.split(/,\s*(?=[A-Za-z0-9._/-]+:)/u);
  return parts
    .map((part, i) => (i < parts.length - 1 ? part.trimEnd() : part))
    .filter((label) => /^[^:]+:./su.test(label));
}

/** Labels as the texts `key:value`. */
export function labelTexts(labels: Labels = {}): readonly string[] {
  return Object.entries(labels).map((pair) => pair.join(":"));
}

/** The form of the filter `key:value`. */
export const LABEL_FILTER = { pattern: "^([^:]+):([\\s\\S]+)$" } as const;
const FILTER_PATTERN = new RegExp(LABEL_FILTER.pattern, "u");

/**
 * Reads the filter `key:value`.
 *
 * @throws BadInput if the text has no key or no value
 */
export function labelOf(text: string): Labels {
  const [, key, value] = FILTER_PATTERN.exec(text) ?? [];
  if (key === undefined || value === undefined) {
    throw new BadInput("label: expected key:value, such as env:staging");
  }
  return Object.fromEntries([[key, value]]);
}
