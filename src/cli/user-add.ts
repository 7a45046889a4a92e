import { printable } from "../core/printable.ts";
import { oneOf } from "../core/validate.ts";
import { roles } from "../users/schema.ts";
import { readArguments, required, text } from "./arguments.ts";
import { UsageError, type CliCommand } from "./command.ts";
import { makeChange, storedAt } from "./make-change.ts";

export const userAddCommand: CliCommand = {
  name: "user add",
  usage: "--email EMAIL --role ROLE [--name NAME] [--organization ID] [--data DIR]",
  summary: "Create a user; the password is asked for, or read from standard input",
  details: `  --email EMAIL       what the user signs in with
  --role ROLE         ${oneOf(roles)}
  --name NAME         the name that people see; by default the email
  --organization ID   the organization; by default "default"
  --data DIR          the data directory; by default DATABASE_URL or DATA_DIR

A server that runs on the directory creates the user, otherwise this command does.
The password is never an argument, since everybody on the machine could read it.`,
  async run(args, terminal) {
    const options = { email: text, role: text, name: text, organization: text, data: text };
    const { values } = readArguments(args, options);
    const email = required("email", values.email);
    const role = required("role", values.role);
    if (!roles.some((one) => one === role))
      throw new UsageError(`--role: expected ${oneOf(roles)} instead of "${role}"`);
    const { name, organization } = values;
    const config = storedAt(values.data);
    const password = await terminal.readPassword(`Password for ${printable(email)}: `);
    const body = { email, role, name, organization, password };
    const user = (await makeChange(config, "add-user", body, terminal.now)) as { id: string };
    terminal.out(`Created ${role} ${email} (${user.id})\n`);
    return 0;
  },
};
