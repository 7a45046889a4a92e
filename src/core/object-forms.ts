/**
 * Limits of an object's properties together, for `not` in `ruled`. Generators of clients make unions of types from
 * `anyOf` and `oneOf`, in which the object's own type is lost; they ignore `not`.
 */

/** Objects that have none of the properties; an empty text counts as absent. */
export function withNone(...names: readonly string[]) {
  return { properties: Object.fromEntries(names.map((name) => [name, { const: "" }])) };
}

/** Objects that have all of the properties. Linters expect the names a second time in `properties`. */
export function withAll(...names: readonly string[]) {
  return { required: names, properties: Object.fromEntries(names.map((name) => [name, {}])) };
}
