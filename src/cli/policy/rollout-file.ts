/** The file that describes a rollout: what `POST /rollouts` takes, without the version. */
import { parse } from "yaml";
import { isObject, refuseUnknown } from "../../core/validate.ts";
import { rolloutBody } from "../../rollouts/draft.ts";
import { rolloutDraft, type RolloutDraft } from "../../rollouts/schema.ts";
import { readDocument } from "./document-file.ts";

/** The stages of a rollout, and its action on a breach. */
export type RolloutPlan = Omit<RolloutDraft, "version">;

const { version: _, ...plan } = rolloutDraft.properties;

/** Twice the most that a service stores of stages. The parser compares each key with all others of its mapping. */
const MAX_BYTES = 128 << 10;

/**
 * Reads a file in YAML or JSON.
 *
 * @throws InputError if it cannot be read; Error naming the file and the place that is invalid
 */
export async function readRolloutFile(file: string): Promise<RolloutPlan> {
  const text = await readDocument(file, "a file with the stages of a rollout", MAX_BYTES);
  try {
    const given: unknown = parse(text, { logLevel: "error" });
    if (!isObject(given)) throw new Error("expected a mapping with stages");
    refuseUnknown(plan, given, ""); // `version` too, which the command sets
    const { version: _, ...read } = rolloutBody.read({ ...given, version: "any" });
    return read;
  } catch (error) {
    const [reason] = (error as Error).message.split("\n");
    throw new Error(`${file}: ${reason}`, { cause: error });
  }
}
