/** The file that describes a rollout: what `POST /rollouts` takes, without the version. */
import { parse } from "yaml";
import { isObject, oneOf, pathOf } from "../../core/validate.ts";
import { rolloutBody } from "../../rollouts/draft.ts";
import { rolloutDraft, type RolloutDraft } from "../../rollouts/schema.ts";
import { readDocument } from "./document-file.ts";

/** The stages of a rollout, and its action on a breach. */
export type RolloutPlan = Omit<RolloutDraft, "version">;

const { version: _, ...plan } = rolloutDraft.properties;
const stage = rolloutDraft.properties.stages.items.properties;

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
    refuseUnknown(given);
    const { version: _, ...read } = rolloutBody.read({ ...given, version: "any" });
    return read;
  } catch (error) {
    const [reason] = (error as Error).message.split("\n");
    throw new Error(`${file}: ${reason}`, { cause: error });
  }
}

/** The service ignores unknown keys, but a misspelt gate in a file would be a gate that never stops anything. */
function refuseUnknown(given: Readonly<Record<string, unknown>>): void {
  refuseKeys(given, plan, "");
  const stages = Array.isArray(given["stages"]) ? (given["stages"] as readonly unknown[]) : [];
  for (const [i, one] of stages.entries()) {
    const place = `stages[${i}]`;
    refuseKeys(one, stage, place);
    if (isObject(one)) refuseKeys(one["gates"], stage.gates.properties, `${place}.gates`);
  }
}

function refuseKeys(value: unknown, known: object, place: string): void {
  if (!isObject(value)) return; // refused with the rest of the shape
  for (const key of Object.keys(value)) {
    if (Object.hasOwn(known, key)) continue;
    const expected = oneOf(Object.keys(known));
    throw new Error(`${pathOf(place, key)}: unknown key, expected ${expected}`);
  }
}
