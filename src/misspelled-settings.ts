import { nearest } from "./core/nearest.ts";
import { settingTable } from "./setting-table.ts";

/** Below this length a variable of another program is too likely to look like a setting. */
const LEAST_LENGTH = 8;
const VARIABLES = Object.values(settingTable).map(({ variable }) => variable);
const LONG = VARIABLES.filter(({ length }) => length >= LEAST_LENGTH).map((one) =>
  one.toLowerCase(),
);
const BY_LETTERS = new Map(VARIABLES.map((variable) => [lettersOf(variable), variable]));

/**
 * Lists the variables that look like misspelled settings, as sentences for the operator. They have no effect, so a typo
 * in `REQUIRE_AUTH` would leave the service open. They prevent no start, because other programs read the same
 * environment.
 */
export function misspelledSettings(names: readonly string[]): readonly string[] {
  return names.flatMap((name) => {
    const meant = VARIABLES.includes(name) ? undefined : settingLike(name);
    return meant === undefined ? [] : [`${name} is not a setting: did you mean ${meant}?`];
  });
}

function settingLike(name: string): string | undefined {
  const bare = name.toUpperCase().replace(/^SIGNALBOX_/, "");
  const letters = lettersOf(bare);
  const same = BY_LETTERS.get(letters) ?? BY_LETTERS.get(`${letters}S`);
  return same ?? nearest(bare, LONG)?.toUpperCase();
}

function lettersOf(variable: string): string {
  return variable.replaceAll("_", "");
}
