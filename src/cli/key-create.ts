import { readArguments, required } from "./arguments.ts";
import type { Command } from "./command.ts";
import { dataDirectory, makeChange } from "./directory.ts";

export const keyCreateCommand: Command = {
  name: "key create",
  usage: "--name NAME [--organization ID] [--data DIR]",
  summary: "Create an API key and print it, this once",
  details: `  --name NAME         what the key is for
  --organization ID   the organization; "default" when absent
  --data DIR          the data directory; DATA_DIR when absent

A server that runs on the directory creates the key, else this command does.
The key stands alone on standard output; what is said of it goes to standard error.`,
  async run(args, terminal) {
    const text = { type: "string" } as const;
    const { values } = readArguments(args, { name: text, organization: text, data: text });
    const name = required("name", values.name);
    const body = { name, organization: values.organization };
    const key = await makeChange(dataDirectory(values.data), "create-key", body, terminal.now);
    const { id, api_key } = key as { id: string; api_key: string };
    terminal.error(`Created the key "${name}" (${id}). Store it now: it is not shown again.\n`);
    terminal.out(`${api_key}\n`);
    return 0;
  },
};
