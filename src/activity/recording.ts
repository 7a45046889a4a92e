/**
 * Where changes become entries: rows that declare a change are wrapped once, when the service is put
 * together, so that no handler can forget it and every other row stays the function that it was.
 *
 * The change is committed by its store first, then its entry is written, then the caller is answered.
 * When the entry cannot be written the change stands, and the caller hears that nobody recorded it.
 */
import type { Clock } from "../core/clock.ts";
import { Refusal, Unrecorded } from "../core/errors.ts";
import type { IdSource } from "../core/ids.ts";
import { formatTimestamp } from "../core/time.ts";
import { DeferredReply, discard, JsonReply, StreamReply, TextReply } from "../http/reply.ts";
import type { Change, ChangeNote, Route } from "../http/route.ts";
import type { ActivityEntry } from "./schema.ts";
import type { ActivityStore } from "./store.ts";

/** What writing an entry takes. */
export interface Recorder {
  readonly activity: Pick<ActivityStore, "append">;
  readonly now: Clock;
  readonly ids: IdSource;
}

type AnyInput = Parameters<Route<unknown>["handle"]>[0];

/** What is known of a change when its entry is written. */
interface Happened {
  readonly change: Change<AnyInput, unknown>;
  readonly input: AnyInput;
  readonly note: ChangeNote;
  readonly action: string;
  readonly outcome: ActivityEntry["outcome"];
  /** What was answered, where that is JSON; nothing but when it was done. */
  readonly answer?: unknown;
}

/** The same rows, of which those that declare a change write an entry before they answer. */
export function recordingRows<Needs>(
  rows: readonly Route<Needs>[],
  recorder: Recorder,
): readonly Route<Needs>[] {
  return rows.map((row) => (row.change ? recording(row, row.change, recorder) : row));
}

function recording<Needs>(
  row: Route<Needs>,
  change: Change<AnyInput, unknown>,
  recorder: Recorder,
): Route<Needs> {
  const handle = async (input: AnyInput, needs: Needs): Promise<unknown> => {
    if (input.isHead) return row.handle(input, needs); // asks for headers, and so does nothing
    let note: ChangeNote = {};
    const noting = { ...input, note: (more: ChangeNote) => void (note = { ...note, ...more }) };
    let answer: unknown;
    try {
      answer = await settled(await row.handle(noting, needs));
    } catch (error) {
      await recordFailure(recorder, { change, input, note }, error);
      throw error;
    }
    const { action } = change;
    const done = { change, input, note, action, outcome: "done", answer: valueOf(answer) } as const;
    try {
      await record(recorder, done, answer instanceof StreamReply);
    } catch (error) {
      discard(answer);
      throw error;
    }
    return answer;
  };
  return { ...row, handle };
}

/** Writes the entry of what a row says that its refusals are, or of a failure that leaves doubt. */
async function recordFailure(
  recorder: Recorder,
  happened: Pick<Happened, "change" | "input" | "note">,
  error: unknown,
): Promise<void> {
  const { change } = happened;
  if (!(error instanceof Refusal)) {
    const failed = { ...happened, action: change.action, outcome: "failed" } as const;
    // The caller hears of the first failure, and so does the log.
    return append(recorder, failed).catch(() => undefined);
  }
  const action = change.refusals?.[error.status];
  if (action !== undefined) {
    await record(recorder, { ...happened, action, outcome: "refused" }, true);
  }
}

async function record(recorder: Recorder, happened: Happened, isUndone: boolean): Promise<void> {
  try {
    await append(recorder, happened);
  } catch (error) {
    const what = `The record of "${happened.action}" could not be written`;
    throw new Unrecorded(isUndone ? `${what}, so it was not done` : `${what}, but it was done`, {
      cause: error,
    });
  }
}

/** Appends the entry; reading by callers without credentials has none (see `Change.isReading`). */
async function append(
  { activity, now, ids }: Recorder,
  { change, input, note, action, outcome, answer }: Happened,
): Promise<void> {
  const { organization, actor } = note.caller ?? input;
  if (change.isReading && actor === undefined) return;
  const isDone = outcome === "done";
  await activity.append(organization, {
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
    after: isDone ? (note.after ?? change.after?.(input, answer)) : undefined,
    outcome,
  });
}

function actorOf(actor: NonNullable<AnyInput["actor"]>): ActivityEntry["actor"] {
  const { kind, id } = actor;
  return kind === "user" ? { kind, id, email: actor.email } : { kind, id, name: actor.name };
}

/** An answer that comes by call-back, once it has come: only then the change is there. */
function settled(answer: unknown): unknown {
  if (!(answer instanceof DeferredReply)) return answer;
  return new Promise((resolve, reject) => {
    answer.start((error, value) => (error ? reject(error as Error) : resolve(value)));
  });
}

function valueOf(answer: unknown): unknown {
  if (answer instanceof JsonReply) return answer.value;
  return answer instanceof TextReply || answer instanceof StreamReply ? undefined : answer;
}
