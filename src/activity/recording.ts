/**
 * Turns changes into entries: rows that declare a change are wrapped once, when the service is put
 * together. So no handler can forget its entry, and every other row stays unchanged.
 *
 * A handler runs inside a unit of work, over the stores of that unit; its entry is written in the
 * same unit, before the request is answered.
 */
import { isDeepStrictEqual } from "node:util";
import type { Clock } from "../core/clock.ts";
import { Refusal, Unrecorded } from "../core/errors.ts";
import type { IdSource } from "../core/ids.ts";
import { formatTimestamp } from "../core/time.ts";
import { discard, JsonReply, StreamReply, TextReply } from "../http/reply.ts";
import type { Change, ChangeNote, Route } from "../http/route.ts";
import { Readings } from "./readings.ts";
import type { ActivityEntry } from "./schema.ts";
import type { ActivityStore } from "./store.ts";
import { unrecorded, type UnitOfWork } from "./unit-of-work.ts";

/** The services that write entries. */
export interface Recorder<Needs> {
  /** Runs a handler and writes its entry; the unit's stores replace those of the service. */
  readonly commit: UnitOfWork<Partial<Needs>>;
  /** Takes the entries of attempts that changed nothing. */
  readonly activity: Pick<ActivityStore, "append">;
  readonly now: Clock;
  readonly ids: IdSource;
}

type Recording<Needs> = Recorder<Needs> & { readonly readings: Readings };
type Entering = Pick<Recording<unknown>, "now" | "ids" | "readings">;

type AnyInput = Parameters<Route<unknown>["handle"]>[0];

/** The facts about a change when its entry is written. */
interface Happened {
  readonly change: Change<AnyInput, unknown>;
  readonly input: AnyInput;
  readonly note: ChangeNote;
  readonly action: string;
  readonly outcome: ActivityEntry["outcome"];
  /** The answer, if it is JSON and the change was made. */
  readonly answer?: unknown;
}

/** The same rows; those that declare a change write an entry before they answer. */
export function recordingRows<Needs>(
  rows: readonly Route<Needs>[],
  recorder: Recorder<Needs>,
): readonly Route<Needs>[] {
  const recording = { ...recorder, readings: new Readings(recorder.now) };
  return rows.map((row) => (row.change ? recordingRow(row, row.change, recording) : row));
}

function recordingRow<Needs>(
  row: Route<Needs>,
  change: Change<AnyInput, unknown>,
  recorder: Recording<Needs>,
): Route<Needs> {
  const { action } = change;
  const handle = async (input: AnyInput, needs: Needs): Promise<unknown> => {
    if (input.isHead) return row.handle(input, needs); // HEAD changes nothing
    let note: ChangeNote = {};
    const noting = { ...input, note: (more: ChangeNote) => void (note = { ...note, ...more }) };
    let answer: unknown;
    let entry: ActivityEntry | undefined;
    try {
      const made = recorder.commit(async (stores) => {
        answer = await row.handle(noting, { ...needs, ...stores });
        const happened = { change, input, note, action, outcome: "done" } as const;
        entry = entryOf(recorder, { ...happened, answer: valueOf(answer) });
        return { result: answer, entry };
      }, input.client);
      // Also after a failure: the change may have been committed before it.
      return await made.finally(() => row.ended?.(input, needs));
    } catch (error) {
      discard(answer);
      giveBack(recorder, change, entry);
      await recordFailure(recorder, { change, input, note }, error);
      // A stream is not sent without its entry.
      if (!(error instanceof Unrecorded && answer instanceof StreamReply)) throw error;
      throw unrecorded(action, "so it was not done", error.cause);
    }
  };
  return { ...row, handle };
}

/** Writes the entry of a refusal that the row names, or of a failure whose effect is in doubt. */
async function recordFailure<Needs>(
  recorder: Recording<Needs>,
  happened: Pick<Happened, "change" | "input" | "note">,
  error: unknown,
): Promise<void> {
  const { change } = happened;
  const append = async (action: string, outcome: "failed" | "refused"): Promise<void> => {
    const entry = entryOf(recorder, { ...happened, action, outcome });
    if (!entry) return;
    await recorder.activity.append(entry.organization_id, entry).catch((cause: unknown) => {
      giveBack(recorder, change, entry);
      throw cause;
    });
  };
  if (!(error instanceof Refusal)) {
    // The caller and the log get the first failure.
    return append(change.action, "failed").catch(() => undefined);
  }
  const action = change.refusals?.[error.status];
  if (action === undefined) return;
  await append(action, "refused").catch((cause: unknown) => {
    throw unrecorded(action, "so it was not done", cause);
  });
}

/**
 * The entry of a change. Reading without credentials has no entry, nor has very frequent reading (see
 * `Change.isReading`), nor a request that changed nothing: `before` and `after` are equal. So `before` must be the
 * state that the store replaced: if it was read earlier, it could hide a change between two others.
 */
function entryOf(
  { now, ids, readings }: Entering,
  { change, input, note, action, outcome, answer }: Happened,
): ActivityEntry | undefined {
  const { organization, actor } = note.caller ?? input;
  const isRecorded = !change.isReading || (actor !== undefined && readings.take(actor.id));
  if (!isRecorded) return undefined;
  const isDone = outcome === "done";
  let after = isDone ? (note.after ?? change.after?.(input, answer)) : undefined;
  if (after && isDeepStrictEqual(note.before, after)) return undefined;
  if (typeof isRecorded === "object") after = { ...isRecorded, ...after }; // first, since the last ones may be cut
  return {
    id: ids(),
    organization_id: organization,
    timestamp: formatTimestamp(now()),
    actor: actor ? actorOf(actor) : { kind: "anonymous" as const },
    address: input.address || undefined,
    request_id: input.requestId,
    surface: input.surface,
    action,
    target: change.target(input, answer),
    before: isDone ? note.before : undefined,
    after,
    outcome,
  };
}

/** An entry that could not be written does not count: while the log is full, no export may go without one. */
function giveBack(
  { readings }: Entering,
  { isReading }: Change<AnyInput, unknown>,
  entry: ActivityEntry | undefined,
): void {
  if (isReading && entry?.actor.id !== undefined) readings.giveBack(entry.actor.id);
}

function actorOf(actor: NonNullable<AnyInput["actor"]>): ActivityEntry["actor"] {
  const { kind, id } = actor;
  return kind === "user" ? { kind, id, email: actor.email } : { kind, id, name: actor.name };
}

function valueOf(answer: unknown): unknown {
  if (answer instanceof JsonReply) return answer.value;
  return answer instanceof TextReply || answer instanceof StreamReply ? undefined : answer;
}
