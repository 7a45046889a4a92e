/** The labels of the fields that the API's messages name, as the portal's forms and filters show them. */
const LABELS: ReadonlyMap<string, string> = new Map([
  ["admin_email", "First admin's email"],
  ["admin_password", "First admin's password"],
  ["current", "Current password"],
  ["cursor", "The page of the list"],
  ["email", "Email"],
  ["expires_in_days", "Days until it expires"],
  ["from", "From"],
  ["key", "Key"],
  ["name", "Name"],
  ["password", "Password"],
  ["settings", "Settings"],
  ["slug", "Id"],
  ["to", "Up to"],
  ["value", "Value"],
  ["version", "Version name"],
  ["yaml", "Policy document"],
]);

/** Wordings of the API for programmers, each with the one for people. */
const WORDINGS = [
  [/^required$/, "required, but empty"],
  [/^expected an RFC 3339 date and time, (such as \S+) \(.*\)$/, "expected a date and time, $1"],
  [/\ba string( or null)?\b/, "a text"],
] as const;

const MESSAGE = /^([a-z_]+)(?:\[(\d+)\])?(?:\.([a-z_]+))?(, line \d+, column \d+)?: (.+)$/s;

/** Rewrites a message of the API for people: `expires_in_days: required` gets the label of the field. */
export function inWords(message: string): string {
  const [, first = "", row, inner, lines = "", rest = ""] = MESSAGE.exec(message) ?? [];
  const label = LABELS.get(inner ?? first);
  if (label === undefined) return message;
  const place = row === undefined ? label : `${label} in row ${Number(row) + 1}`;
  const words = WORDINGS.reduce((text, [from, to]) => text.replace(from, to), rest);
  return `${place}${lines}: ${words}`;
}
