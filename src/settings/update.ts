import { BadInput } from "../core/errors.ts";
import { bodyOf } from "../core/validate.ts";
import { settingsUpdate, type Setting } from "./schema.ts";

/** The most characters of all keys and values together. */
const MAX_CHARACTERS = 1 << 20;

type Pairs = Readonly<Record<string, string>>;

/** The pairs that a replacement removes, adds or changes, by key. */
export function differences(
  before: readonly Setting[],
  after: readonly Setting[],
): { readonly before: Pairs; readonly after: Pairs } {
  return { before: pairsNotIn(after, before), after: pairsNotIn(before, after) };
}

function pairsNotIn(others: readonly Setting[], settings: readonly Setting[]): Pairs {
  const known = new Map(others.map(({ key, value }) => [key, value]));
  const rest = settings.filter(({ key, value }) => known.get(key) !== value);
  return Object.fromEntries(rest.map(({ key, value }) => [key, value]));
}

/** The body that replaces an organization's settings. */
export const settingsUpdateBody = bodyOf(settingsUpdate, ({ settings }): readonly Setting[] => {
  const seen = new Set<string>();
  let characters = 0;
  for (const [index, { key, value = "" }] of settings.entries()) {
    if (seen.has(key)) throw new BadInput(`settings[${index}].key: "${key}" is given twice`);
    seen.add(key);
    characters += key.length + value.length;
  }
  if (characters > MAX_CHARACTERS) {
    throw new BadInput(`settings: expected at most ${MAX_CHARACTERS} characters in all pairs`);
  }
  return settings.map((setting) => ({ key: setting.key, value: setting.value ?? "" }));
});
