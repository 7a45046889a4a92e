import { printable } from "../../core/printable.ts";
import type { ServiceAnswer } from "../../guard/service.ts";
import type { Policy, PolicyPublish, PolicySummary } from "../../policies/schema.ts";
import type { PolicyReplayReport } from "../../replay/report.ts";
import type { Terminal } from "../command.ts";
import { tellJson, tellProblems } from "./document-file.ts";
import { excessOf, type Guard, replayLines } from "./replay-report.ts";
import { errorOf, jsonOf, type PolicyService, succeeded } from "./service.ts";

/** A document that a command publishes, and the options of the command. */
export interface PublishedFile {
  /** The command's name, for messages. */
  readonly command: string;
  readonly file: string;
  readonly yaml: string;
  readonly guard: Guard;
  readonly version?: string;
  readonly note?: string;
  readonly "no-activate"?: boolean;
  readonly json?: boolean;
}

/** A version after a publish; `isNew` unless the same text was stored under its name before. */
export interface Published {
  readonly policy: Policy;
  readonly isNew: boolean;
}

/** The answer to a publish whose replay exceeds a limit. */
interface Exceeded {
  readonly error: string;
  readonly replay: PolicyReplayReport;
}

function policyOf(answer: ServiceAnswer): Policy {
  return jsonOf<Policy>(answer, { version: "string", yaml: "string" });
}

/** The active version; `undefined` without one. */
export async function activeOf(service: PolicyService): Promise<Policy | undefined> {
  const answer = await service.get("/policies?active=true");
  return answer.status === 404 ? undefined : policyOf(answer);
}

/** A stored version; `undefined` if there is none of that name. */
export async function versionOf(
  service: PolicyService,
  version: string,
): Promise<Policy | undefined> {
  const answer = await service.get(pathOf(version));
  return answer.status === 404 ? undefined : policyOf(answer);
}

/**
 * A stored version; the active one if none is named.
 *
 * @throws Error if there is none
 */
export async function readVersion(
  service: PolicyService,
  version: string | undefined,
): Promise<Policy> {
  if (version !== undefined) return policyOf(succeeded(await service.get(pathOf(version))));
  const active = await activeOf(service);
  if (!active) throw new Error("No policy is active: publish one, or activate a version");
  return active;
}

/** The stored versions without their texts, newest first. */
export interface StoredVersions {
  readonly active: string;
  readonly policies: readonly PolicySummary[];
}

/** Reads the stored versions. */
export async function listVersions(service: PolicyService): Promise<StoredVersions> {
  const answer = succeeded(await service.get("/policies?texts=false"));
  return jsonOf<StoredVersions>(answer, { active: "string", policies: "array" });
}

/** Makes a stored version the active one. */
export async function activate(service: PolicyService, version: string): Promise<Policy> {
  return policyOf(succeeded(await service.post(`${pathOf(version)}/activate`, {})));
}

function pathOf(version: string): string {
  return `/policies/${encodeURIComponent(version)}`;
}

/** Tells the problems of a document, for the exit code 1. */
export function refused(
  file: string,
  problems: Parameters<typeof tellProblems>[1],
  isJson: boolean,
  terminal: Terminal,
): number {
  if (isJson) tellJson(terminal, { ok: false, file, problems });
  else tellProblems(file, problems, terminal);
  return 1;
}

/**
 * Publishes a document. A pipeline may run again, so the version may be stored already, with the same text and as
 * active as it would become.
 *
 * @returns `undefined` if its replay exceeds a limit, which is told
 * @throws Error if the service refuses it
 */
export async function publish(
  service: PolicyService,
  { command, file, yaml, guard, version, note, json, "no-activate": isInactive }: PublishedFile,
  terminal: Terminal,
): Promise<Published | undefined> {
  const { window_hours: _, ...limits } = guard;
  const answer = await post(service, file, {
    yaml,
    ...(version !== undefined && { version }),
    ...(note !== undefined && { description: note }),
    ...(isInactive === true && { activate: false }),
    ...(Object.keys(limits).length > 0 && { guard }),
  });
  if (!("error" in answer)) return { policy: answer, isNew: true };
  const { error, replay } = answer;
  if (replay === undefined) {
    const stored = version === undefined ? undefined : await versionOf(service, version);
    const isDone = stored?.yaml === yaml && (stored.active || isInactive === true);
    if (stored === undefined || !isDone) throw new Error(error);
    return { policy: stored, isNew: false };
  }
  if (json === true) tellJson(terminal, { ok: false, error, replay });
  else terminal.out(replayLines(file, yaml, replay));
  const excess = excessOf(replay, guard) ?? printable(error);
  terminal.error(`signalbox ${command}: ${excess}\n`);
  return undefined;
}

/** Sends a document; a problem that only the service finds is named by its place in the file. */
async function post(
  service: PolicyService,
  file: string,
  body: PolicyPublish,
): Promise<Policy | (Pick<Exceeded, "error"> & Partial<Exceeded>)> {
  const answer = await service.post("/policies", body).catch((error: Error) => {
    const at = /^yaml, line (\d+), column (\d+): /.exec(error.message);
    if (!at) throw error;
    const message = error.message.slice(at[0].length);
    throw new Error(`${file}:${at[1]}:${at[2]}: ${message}`, { cause: error });
  });
  if (answer.status === 201) return policyOf(answer);
  const { replay } =
    answer.status === 409 ? jsonOf<Partial<Exceeded>>(answer, { error: "string" }) : {};
  return { error: errorOf(answer.text), ...(replay && { replay }) };
}
