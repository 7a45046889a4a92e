/**
 * The name that likely follows those of the policy versions: the active version's name with the next number,
 * such as `v8` after `v7`, and `v1` as the first one.
 *
 * @param active the active version's name
 * @param names the names of all versions, of which none is returned
 * @returns `undefined` if no name with a number at its end is active
 */
export function nextVersion(
  active: string | undefined,
  names: readonly string[],
): string | undefined {
  const first = names.length === 0 ? "v0" : "";
  const [, stem, digits] = /^(.*?)(\d{1,15})$/s.exec(active ?? first) ?? [];
  if (stem === undefined || digits === undefined) return undefined;
  const taken = new Set(names);
  for (let number = Number(digits) + 1; ; number++) {
    const name = stem + String(number).padStart(digits.length, "0");
    if (!taken.has(name)) return name;
  }
}
