/**
 * Checks a signed log against the last checkpoint of it that this browser has seen. So a log that was put back to an
 * earlier state, or rewritten, is found by its readers. A server that also changes the portal's own modules is not
 * found: `signalbox verify` is the check that needs no trust in it.
 */
import { ApiError } from "../pages/api-source.ts";
import { open, read } from "./api.ts";
import { checkpointIn, continues, isSignedBy, type Checkpoint } from "./checkpoints.ts";
import { browserStorage, fromJson } from "./storage.ts";

/** The logs of an organization that are signed. */
export type LogName = "audit" | "activity";

/** A checkpoint that this browser has seen. */
export interface SeenCheckpoint {
  readonly note: string;
  /** The public key of the log at that time. */
  readonly vkey: string;
  /** In RFC 3339, by the service's clock. */
  readonly at: string;
}

/** A log that is not as this browser has seen it before, or whose signature is wrong. */
export interface LogProblem {
  readonly state: "contradiction" | "other key" | "bad signature";
  readonly before: SeenCheckpoint | undefined;
  /** `undefined` if the log has no checkpoint any more. */
  readonly present: SeenCheckpoint | undefined;
}

/** A log that is as this browser has seen it before. */
export interface RightLog {
  readonly state: "right";
  readonly present: SeenCheckpoint;
  /** The checkpoint that the log continues; `undefined` at the first visit. */
  readonly before: SeenCheckpoint | undefined;
  /** Whether this browser can check signatures. */
  readonly isSigned: boolean;
}

/** The result of a check; `insecure` where browsers have no cryptography. */
export type LogCheck = { readonly state: "empty" | "insecure" } | RightLog | LogProblem;

/**
 * Checks a log, and keeps its checkpoint if all is right.
 *
 * @throws ApiError if the service does not answer
 */
export async function checkLog(log: LogName, now: number): Promise<LogCheck> {
  // Browsers have no cryptography on pages that come by plain HTTP from another machine.
  if (globalThis.crypto?.subtle === undefined) return { state: "insecure" };
  const vkey = (await text(`/${log}/verifier`)).trim();
  // Before the present one is read: another tab may keep a newer one meanwhile.
  const before = seenBefore(placeOf(vkey));
  const old = before && checkpointIn(before.note);
  const note = await text(`/${log}/checkpoint`).catch((error: unknown) => {
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  });
  if (note === undefined) {
    return old ? { state: "contradiction", before, present: undefined } : { state: "empty" };
  }
  const present = { note, vkey, at: new Date(now).toISOString() };
  const found = checkpointIn(note);
  const signed = await isSignedBy(note, keyIn(vkey));
  if (found === undefined || signed === "no") return { state: "bad signature", before, present };
  if (before && old) {
    if (!(await isContinued(log, old, found))) return { state: "contradiction", before, present };
    const earlier = keyIn(before.vkey);
    if (earlier !== keyIn(vkey) && (await isSignedBy(note, earlier)) !== "yes") {
      return { state: "other key", before, present };
    }
  }
  accept(present);
  return { state: "right", present, before: old && before, isSigned: signed === "yes" };
}

function seenBefore(place: string): SeenCheckpoint | undefined {
  const found = fromJson<Partial<SeenCheckpoint> | null>(browserStorage.get(place));
  const { note, vkey, at } = found ?? {};
  const isWhole = [note, vkey, at].every((one) => typeof one === "string");
  return isWhole && checkpointIn(note ?? "") ? (found as SeenCheckpoint) : undefined;
}

/** Keeps a checkpoint in place of the one that is kept. */
export function accept(present: SeenCheckpoint): void {
  browserStorage.set(placeOf(present.vkey), JSON.stringify(present));
}

async function isContinued(log: LogName, from: Checkpoint, to: Checkpoint): Promise<boolean> {
  if (from.size >= to.size) return continues(from, to, []);
  const options = { query: { from: from.size, to: to.size } };
  const path = `/${log}/consistency`;
  const { hashes } = await read<{ readonly hashes: readonly string[] }>(path, options);
  return continues(from, to, hashes);
}

async function text(path: string): Promise<string> {
  return (await open("GET", path, { headers: { Accept: "*/*" } })).text();
}

/** The place of a log's checkpoint. The host in its name may change with the settings of the server. */
function placeOf(vkey: string): string {
  return `signalbox.checkpoint.${nameIn(vkey).split("/").slice(-2).join("/")}`;
}

function nameIn(vkey: string): string {
  return vkey.slice(0, vkey.indexOf("+"));
}

function keyIn(vkey: string): string {
  return vkey.slice(vkey.indexOf("+", vkey.indexOf("+") + 1) + 1);
}
