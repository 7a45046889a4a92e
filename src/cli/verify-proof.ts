import { printable } from "../core/printable.ts";
import { MalformedProof } from "../proof/errors.ts";
import { verifyProof } from "../proof/tlog-proof.ts";
import { readArguments, required, text, texts } from "./arguments.ts";
import { InputError, type CliCommand } from "./command.ts";
import { readKeys } from "./proof-evidence.ts";
import { readInput } from "./read-input.ts";

/** Far more than the hashes and the signatures of any proof. */
const MAX_PROOF_BYTES = 1 << 20;
/** More than the line of any event: its texts have up to 4 MiB, and JSON takes up to six bytes for a byte of a text. */
const MAX_EVENT_BYTES = 32 << 20;
const AS_EXPORTED = "give the event as it was exported";

export const verifyProofCommand: CliCommand = {
  name: "verify-proof",
  usage: "FILE --event FILE --key VKEY…",
  summary: "Check that an event is part of a log, by its proof and the log's public key",
  details: `  --event FILE   the event as it was exported: its line of the NDJSON, byte for byte
  --key VKEY     the log's public key, as NAME+ID+BASE64; repeat it for a log that changed its key

FILE is a proof in the format c2sp.org/tlog-proof. Needs no server and no network. Take the key from
a place that the operator of the log cannot change, such as your notes of the first day.
Exit codes: 0 the event is part of the log, 1 it is not proven, 2 the arguments or a file
are not valid.`,
  async run(args, { out }) {
    const { values, positionals } = readArguments(args, { event: text, key: texts }, ["FILE"]);
    const file = positionals[0] ?? "";
    const event = required("event", values.event);
    required("key", values.key?.[0]);
    const verifiers = readKeys(values.key ?? []);
    const proof = (await readInput(file, { maxBytes: MAX_PROOF_BYTES })).toString("utf8");
    const line = await readEvent(event);
    try {
      const { index, checkpoint } = verifyProof(proof, line, ...verifiers);
      const { origin, size } = checkpoint;
      out(printable(`${event}: is event ${index} of the first ${size} in ${origin}`) + "\n");
      return 0;
    } catch (error) {
      if (!(error instanceof MalformedProof)) throw error;
      throw new InputError(`${file}: ${error.message}`, { cause: error });
    }
  },
};

/** The one line of a file, without its line end. */
async function readEvent(file: string): Promise<Buffer> {
  const bytes = await readInput(file, { maxBytes: MAX_EVENT_BYTES, ifLarger: AS_EXPORTED });
  const end = bytes.indexOf("\n");
  const [line, rest] = end < 0 ? [bytes, ""] : [bytes.subarray(0, end), bytes.subarray(end + 1)];
  if (line.length > 0 && rest.length === 0) return line;
  throw new InputError(`${file}: expected one line, found none or several: ${AS_EXPORTED}`);
}
