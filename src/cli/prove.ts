import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { DEFAULT_ORGANIZATION } from "../core/caller.ts";
import { systemFiles } from "../storage/file-operations.ts";
import { readLogKey } from "../storage/files/proof/log-key.ts";
import { proveLine } from "../storage/files/proof/offline.ts";
import { isOrganizationId, Layout } from "../storage/layout.ts";
import { readArguments, required } from "./arguments.ts";
import { InputError, UsageError, type CliCommand } from "./command.ts";
import { requireDataDirectory } from "./existing.ts";
import { signerOf, vkeyOf } from "../proof/note.ts";

const text = { type: "string" } as const;
const OPTIONS = { data: text, organization: text, activity: { type: "boolean" } } as const;
const OPTIONS_HELP = `  --data DIR           the data directory, or a backup of it; a server may run on it
  --organization ID    the organization; "default" when absent
  --activity           the activity log instead of the audit log`;

export const proveCommand: CliCommand = {
  name: "prove",
  usage: "EVENT_ID --data DIR [--organization ID] [--activity] [--event FILE] [--out FILE]",
  summary: "Make the proof that an event is part of its log",
  details: `${OPTIONS_HELP}
  --event FILE         writes the event as it is stored, which the proof is about
  --out FILE           writes the proof, such as EVENT_ID.tlog-proof; the standard output when absent

The proof is of the last checkpoint: CHECKPOINT_SECONDS makes a server sign some. "signalbox
verify-proof" checks both files without the server. Nothing in DIR is changed.`,
  async run(args, terminal) {
    const options = { ...OPTIONS, event: text, out: text } as const;
    const { values, positionals } = readArguments(args, options, ["EVENT_ID"]);
    const place = await placeOf(values);
    const [wanted = ""] = positionals;
    const { line, proof } = await proveLine(systemFiles, place.layout, place.id, place.log, wanted);
    if (values.event !== undefined) await write("--event", values.event, `${line.toString()}\n`);
    if (values.out === undefined) terminal.out(proof);
    else await write("--out", values.out, proof);
    return 0;
  },
};

export const logKeyCommand: CliCommand = {
  name: "log-key",
  usage: "NAME --data DIR",
  summary: "Print the public key that verifies checkpoints and proofs",
  details: `  --data DIR           the data directory

NAME is the name of a log, the first line of its checkpoints, such as
signalbox.example.com/default/audit. All logs of a directory have one key, but each its own name.
Keep the key away from the server: those who can change it can forge what it verifies.`,
  async run(args, terminal) {
    const { values, positionals } = readArguments(args, { data: text }, ["NAME"]);
    const layout = new Layout(resolve(required("data", values.data)));
    await requireDataDirectory(layout);
    const key = await readLogKey(systemFiles, layout);
    if (key === undefined) throw new Error("There is no log-key: set CHECKPOINT_SECONDS");
    terminal.out(`${vkeyOf(signerOf(positionals[0] ?? "", key))}\n`);
    return 0;
  },
};

async function placeOf(values: {
  readonly data?: string | undefined;
  readonly organization?: string | undefined;
  readonly activity?: boolean | undefined;
}) {
  const layout = new Layout(resolve(required("data", values.data)));
  await requireDataDirectory(layout);
  const id = values.organization ?? DEFAULT_ORGANIZATION;
  if (!isOrganizationId(id)) throw new UsageError(`--organization: "${id}" is not an id`);
  return { layout, id, log: values.activity === true ? "activity" : "audit" } as const;
}

async function write(option: string, file: string, content: string): Promise<void> {
  await writeFile(file, content).catch((error: NodeJS.ErrnoException) => {
    throw new InputError(`${option}: ${file} cannot be written (${error.code})`, { cause: error });
  });
}
