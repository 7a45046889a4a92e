import { BadInput } from "../core/errors.ts";
import { validate } from "../core/validate.ts";
import { settingsUpdate, type Setting } from "./schema.ts";

const MAX_SHOWN_LENGTH = 200; // of a value, in the record of changes

type Pairs = Readonly<Record<string, string>>;

/** The pairs that a replacement takes away, adds or changes, by key; long values are cut short. */
export function differences(
  before: readonly Setting[],
  after: readonly Setting[],
): { readonly before: Pairs; readonly after: Pairs } {
  return { before: pairsNotIn(after, before), after: pairsNotIn(before, after) };
}

function pairsNotIn(others: readonly Setting[], settings: readonly Setting[]): Pairs {
  const known = new Map(others.map(({ key, value }) => [key, value]));
  const rest = settings.filter(({ key, value }) => known.get(key) !== value);
  return Object.fromEntries(rest.map(({ key, value }) => [key, shortened(value)]));
}

function shortened(value: string): string {
  if (value.length <= MAX_SHOWN_LENGTH) return value;
  const shown = value.slice(0, MAX_SHOWN_LENGTH).replace(/[\uD800-\uDBFF]$/, ""); // half a character
  return `${shown}…`;
}

/** The body that replaces an organization's settings. */
export const settingsUpdateBody = {
  schema: settingsUpdate,
  read(value: unknown): readonly Setting[] {
    const given = validate(settingsUpdate, value).settings;
    const seen = new Set<string>();
    for (const [index, { key }] of given.entries()) {
      if (seen.has(key)) throw new BadInput(`settings[${index}].key: "${key}" is given twice`);
      seen.add(key);
    }
    return given.map((setting) => ({ key: setting.key, value: setting.value ?? "" }));
  },
};
