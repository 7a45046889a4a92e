import { BadInput } from "../core/errors.ts";
import type { Infer } from "../core/schema.ts";
import type { Asker } from "../core/scheduling/turns.ts";
import { simulateDocument, summaryOf } from "./check.ts";
import type { policySimulate, policySimulation } from "./schema.ts";
import { SCHEMA_NAME } from "./document-keys.ts";
import type { PolicyStore } from "./store.ts";
import { storedPolicy } from "./stored-policy.ts";

/**
 * Decides a command by the document that a request names.
 *
 * @throws NotFound if the version does not exist, or no version is active
 * @throws BadInput if both a document and a version are named, neither a command nor a capability, or the document
 *   cannot decide
 */
export async function simulate(
  asker: Asker,
  organization: string,
  { yaml, version, ...facts }: Infer<typeof policySimulate>,
  policies: PolicyStore,
): Promise<Infer<typeof policySimulation>> {
  if (yaml !== undefined && version !== undefined) {
    throw new BadInput("Give yaml or version, not both");
  }
  const command = { ...facts, command: facts.command || undefined };
  if (command.command === undefined && !command.capability) {
    throw new BadInput("command: required, or capability for a tool that runs no command");
  }
  const chosen =
    yaml === undefined
      ? await storedPolicy(policies, organization, version)
      : { yaml, version: null };
  const {
    problems,
    verdict,
    mode = "enforce",
    line,
  } = await simulateDocument(asker, chosen.yaml, command);
  if (verdict) return { ...verdict, mode, ...(line && { line }), version: chosen.version };
  const called = chosen.version === null ? "yaml" : `Policy version "${chosen.version}"`;
  throw new BadInput(
    problems.length > 0
      ? summaryOf(problems, called)
      : `Only documents that declare "schema: ${SCHEMA_NAME}" can be simulated`,
  );
}
