import type { KeyObject } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { DEFAULT_ORGANIZATION } from "../core/caller.ts";
import { pathSegment } from "../core/path-segment.ts";
import { printableLines } from "../core/printable.ts";
import { signerOf, vkeyOf } from "../proof/note.ts";
import { parseProof, verifyProof } from "../proof/tlog-proof.ts";
import type { ProvenLine } from "../signed-logs/prove.ts";
import { readKey } from "../signed-logs/signing-keys.ts";
import { systemFiles } from "../storage/file-operations.ts";
import { readLogKey } from "../storage/files/proof/log-key.ts";
import { proveStored } from "../storage/files/proof/offline.ts";
import { isOrganizationId, Layout } from "../storage/layout.ts";
import { flag, readArguments, text, texts } from "./arguments.ts";
import { InputError, UsageError, type CliCommand, type Terminal } from "./command.ts";
import { readingDatabase } from "./database.ts";
import { requireDataDirectory } from "./require-data-directory.ts";
import { serviceOf, succeeded } from "./policy/service.ts";
import { readKeys } from "./proof-evidence.ts";

const OPTIONS = {
  data: text,
  database: text,
  organization: text,
  activity: flag,
  url: text,
  key: texts,
  event: text,
  out: text,
} as const;

export const proveCommand: CliCommand = {
  name: "prove",
  usage:
    "EVENT_ID ((--data DIR | --database URL) [--organization ID] [--activity] | --url URL) [--key VKEY]… [--event FILE] [--out FILE]",
  summary: "Make the proof that an event is part of its log",
  details: `  --data DIR           the data directory, or a backup of it; a server may run on it
  --database URL       a PostgreSQL database, or a standby of it
  --organization ID    the organization; by default "default"
  --activity           the activity log instead of the audit log
  --url URL            the address of a service, which is asked for an audit event instead
  --key VKEY           the log's public key: nothing is written unless the proof verifies
  --event FILE         writes the event as it is stored, which the proof is about
  --out FILE           writes the proof, such as EVENT_ID.tlog-proof; by default to standard output

The proof is of the last checkpoint: CHECKPOINT_SECONDS makes a server sign some. "signalbox
verify-proof" checks both files without the server. Nothing is changed there. With --url the key
of the service is in SIGNALBOX_API_KEY (of the scope runtime), or a user's token in SIGNALBOX_TOKEN.`,
  async run(args, terminal) {
    const { values, positionals } = readArguments(args, OPTIONS, ["EVENT_ID"]);
    const { key = [], event, out } = values;
    const verifiers = readKeys(key);
    const [wanted = ""] = positionals;
    const { line, proof } = await (values.url === undefined
      ? readProven(values, wanted, terminal)
      : fetchProven(values, wanted, terminal));
    if (verifiers.length > 0) verifyProof(proof, line, ...verifiers);
    if (event !== undefined) await write("--event", event, `${line.toString()}\n`);
    if (out === undefined) terminal.out(terminal.isTerminal ? printableLines(proof) : proof);
    else await write("--out", out, proof);
    return 0;
  },
};

export const logKeyCommand: CliCommand = {
  name: "log-key",
  usage: "NAME (--data DIR | --database URL | --private-key FILE)",
  summary: "Print the public key that verifies checkpoints and proofs",
  details: `  --data DIR           the data directory, for the key that the server keeps there
  --database URL       a PostgreSQL database, or a standby of it
  --private-key FILE   the file of LOG_SIGNING_KEY

NAME is the name of a log, the first line of its checkpoints, such as
signalbox.example.com/default/audit. All logs of a service have one key, but each its own name.
Keep the key away from the server: those who can change it can forge what it verifies.`,
  async run(args, terminal) {
    const options = { data: text, database: text, "private-key": text } as const;
    const { values, positionals } = readArguments(args, options, ["NAME"]);
    const { data, database, "private-key": file } = values;
    const [first, second] = Object.keys(options).filter((name) => name in values);
    if (second !== undefined) throw new UsageError(`--${first}: not with --${second}`);
    const key = await (file === undefined
      ? readStored({ data, database }, terminal)
      : readKey("--private-key", file));
    if (key === undefined) throw new Error("There is no log-key: set CHECKPOINT_SECONDS");
    terminal.out(`${vkeyOf(signerOf(positionals[0] ?? "", key))}\n`);
    return 0;
  },
};

/** Reads the private key of a data directory or a database. */
async function readStored(
  { data, database }: Pick<ProofSource, "data" | "database">,
  terminal: Terminal,
): Promise<KeyObject | undefined> {
  if (database !== undefined) {
    const stored = await import("../storage/postgres/proof/log-key.ts");
    return readingDatabase(database, terminal, stored.readLogKey);
  }
  return readLogKey(systemFiles, await directoryOf(data, "--private-key"));
}

/** The data directory of `--data`, in whose place other options may be given. */
async function directoryOf(data: string | undefined, other: string): Promise<Layout> {
  if (data === undefined || data === "") {
    throw new UsageError(`Expected one of --data, --database and ${other}`);
  }
  const layout = new Layout(resolve(data));
  await requireDataDirectory(layout);
  return layout;
}

/** The options that say where an event and its proof are read. */
interface ProofSource {
  readonly data?: string | undefined;
  readonly database?: string | undefined;
  readonly organization?: string | undefined;
  readonly activity?: boolean | undefined;
  readonly url?: string | undefined;
}

/** Proves an event of a data directory or a database. */
async function readProven(
  source: ProofSource,
  wanted: string,
  terminal: Terminal,
): Promise<ProvenLine> {
  const { data, database } = source;
  if (data !== undefined && database !== undefined) {
    throw new UsageError("--data: not with --database");
  }
  const id = source.organization ?? DEFAULT_ORGANIZATION;
  if (!isOrganizationId(id)) throw new UsageError(`--organization: "${id}" is not an id`);
  const named = { organization: id, log: source.activity === true ? "activity" : "audit" } as const;
  if (database !== undefined) {
    const stored = await import("../storage/postgres/proof/stored-trees.ts");
    return readingDatabase(database, terminal, (opened) =>
      stored.proveStored(opened, named, wanted),
    );
  }
  return proveStored(systemFiles, await directoryOf(data, "--url"), named, wanted);
}

/**
 * Asks a service for an audit event and its proof.
 *
 * @throws InputError if another program answers; Error if the service cannot be reached, or refuses
 */
async function fetchProven(
  source: ProofSource,
  wanted: string,
  terminal: Terminal,
): Promise<ProvenLine> {
  for (const name of ["data", "database", "organization", "activity"] as const) {
    if (source[name] === undefined) continue;
    throw new UsageError(`--${name}: not with --url, which reads the audit log of its credential`);
  }
  const service = serviceOf(source.url, terminal, "runtime");
  const path = `/audit/${pathSegment(wanted)}`;
  const read = async (own: string): Promise<string> =>
    succeeded(await answered(service.get(own))).text;
  const proof = await read(`${path}/proof`);
  try {
    parseProof(proof);
  } catch (error) {
    const { message } = error as Error;
    throw new InputError(`The server's answer is not a proof: ${message}: correct --url`, {
      cause: error,
    });
  }
  return { line: Buffer.from(await read(path)), proof };
}

/** Exit code 1 for a service that cannot be reached: the arguments are valid. 2 is for the jobs of `signalbox policy`. */
async function answered<Answer>(answer: Promise<Answer>): Promise<Answer> {
  return answer.catch(({ message, cause }: Error) => {
    throw new Error(message, { cause });
  });
}

async function write(option: string, file: string, content: string): Promise<void> {
  await writeFile(file, content).catch((error: NodeJS.ErrnoException) => {
    throw new InputError(`${option}: ${file} cannot be written (${error.code})`, { cause: error });
  });
}
