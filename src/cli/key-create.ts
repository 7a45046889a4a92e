import { KEY_SCOPES } from "../core/key-scopes.ts";
import { printable } from "../core/printable.ts";
import { oneOf } from "../core/validate.ts";
import { apiKeyCreate } from "../keys/schema.ts";
import { Layout } from "../storage/layout.ts";
import { readArguments, required, text } from "./arguments.ts";
import { UsageError, type CliCommand } from "./command.ts";
import { makeChange, storedAt } from "./make-change.ts";
import { requireDataDirectory } from "./require-data-directory.ts";

export const keyCreateCommand: CliCommand = {
  name: "key create",
  usage: "--name NAME [--scopes SCOPE] [--expires DAYS] [--organization ID] [--data DIR]",
  summary: "Create an API key and print it; it cannot be shown again",
  details: `  --name NAME         the purpose of the key
  --scopes SCOPE      runtime (the default), report or policy: what the key may do
  --expires DAYS      the days until it expires; by default it never expires
  --organization ID   the organization; by default "default"
  --data DIR          the data directory; by default DATABASE_URL or DATA_DIR

A server that runs on the directory creates the key, otherwise this command does.
Standard output has only the key; messages about it go to standard error.`,
  async run(args, terminal) {
    const options = { name: text, scopes: text, expires: text, organization: text, data: text };
    const { values } = readArguments(args, options);
    const name = required("name", values.name);
    const { organization, scopes, expires } = values;
    // The service stores any text, which limits nothing. A person who types an option means one of these.
    if (scopes !== undefined && !KEY_SCOPES.some((scope) => scope === scopes)) {
      throw new UsageError(`--scopes: expected ${oneOf(KEY_SCOPES)} instead of "${scopes}"`);
    }
    // A mistyped directory would be created, with a key that no service knows.
    if (values.data !== undefined) await requireDataDirectory(new Layout(values.data));
    const days = expires === undefined ? undefined : daysOf(expires);
    const body = { name, organization, scopes, expires_in_days: days };
    const key = await makeChange(storedAt(values.data), "create-key", body, terminal.now);
    const { id, api_key, warning, expires_at } = key as {
      readonly id: string;
      readonly api_key: string;
      readonly warning: string;
      readonly expires_at?: string;
    };
    const until = expires_at === undefined ? "" : `, which expires at ${expires_at}`;
    terminal.error(`Created the key "${printable(name)}" (${id})${until}. ${warning}.\n`);
    terminal.out(`${api_key}\n`);
    return 0;
  },
};

function daysOf(given: string): number {
  const { minimum, maximum } = apiKeyCreate.properties.expires_in_days;
  const days = /^\d{1,9}$/.test(given) ? Number(given) : Number.NaN;
  if (days >= minimum && days <= maximum) return days;
  throw new UsageError(`--expires: expected ${minimum} to ${maximum} days instead of "${given}"`);
}
