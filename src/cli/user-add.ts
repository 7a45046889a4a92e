import { printable } from "../core/printable.ts";
import { readArguments, required } from "./arguments.ts";
import { UsageError, type CliCommand } from "./command.ts";
import { makeChange, storedAt } from "./make-change.ts";

const ROLES = ["admin", "operator", "viewer"];

export const userAddCommand: CliCommand = {
  name: "user add",
  usage: "--email EMAIL --role ROLE [--name NAME] [--organization ID] [--data DIR]",
  summary: "Create a user; the password is asked for, or read from standard input",
  details: `  --email EMAIL       what the user signs in with
  --role ROLE         ${ROLES.join(", ")}
  --name NAME         what people call the user; the email when absent
  --organization ID   the organization; "default" when absent
  --data DIR          the data directory; DATABASE_URL or DATA_DIR when absent

A server that runs on the directory creates the user, else this command does.
The password is never an argument, since everybody on the machine could read it.`,
  async run(args, terminal) {
    const text = { type: "string" } as const;
    const options = { email: text, role: text, name: text, organization: text, data: text };
    const { values } = readArguments(args, options);
    const email = required("email", values.email);
    const role = required("role", values.role);
    if (!ROLES.includes(role)) throw new UsageError(`--role: expected ${ROLES.join(", ")}`);
    const { name, organization } = values;
    const config = storedAt(values.data);
    const password = await terminal.readPassword(`Password for ${printable(email)}: `);
    const body = { email, role, name, organization, password };
    const user = (await makeChange(config, "add-user", body, terminal.now)) as { id: string };
    terminal.out(`Created ${role} ${email} (${user.id})\n`);
    return 0;
  },
};
