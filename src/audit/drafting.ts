/** Turns reported events into events that can be stored: checked, without secrets, complete. */
import type { Awaitable } from "../core/caller.ts";
import type { Work } from "../core/scheduling/work.ts";
import { REDACTED_FIELDS } from "./event-fields.ts";
import {
  checkEvent,
  completeEvent,
  hasId,
  type CheckedEvent,
  type IngestContext,
} from "./ingest.ts";
import type { CountRedaction } from "./redaction/event-redaction.ts";
import type { Redactor } from "./redaction/redact.ts";
import type { Redacted } from "./redaction/spans.ts";
import type { AuditEvent } from "./schema.ts";

/** The data that the service adds to each event of one request, and the way secrets are taken out. */
export interface DraftContext extends IngestContext {
  /** Replaces secrets; `undefined` where they are kept. */
  readonly redactor: Redactor | undefined;
  readonly count: CountRedaction;
}

/** Events that are ready to be stored, and the ids that they came with. */
export interface Drafted {
  readonly drafts: readonly AuditEvent[];
  readonly named: ReadonlySet<string>;
}

/** The events of one part of the work, and the steps of looking for secrets in them: either takes about 0.2 ms. */
const EVENTS_OF_A_PART = 64;
const STEPS_OF_A_PART = 4_096;
/** Longer texts are not even looked at as a whole. */
const SEARCHED_LENGTH = 8192;
/** Longer texts are redacted in parts: a hostile one takes some milliseconds for each of them. */
const SHORT_LENGTH = 512;
const NO_IDS: ReadonlySet<string> = new Set();

/**
 * Drafts a single event: synchronously, unless one of its texts is long.
 *
 * @param inTurns runs the work on a long text
 */
export function draftOne(
  event: unknown,
  context: DraftContext,
  inTurns: (work: Work<Drafted>) => Awaitable<Drafted>,
): Awaitable<Drafted> {
  const checked = checkEvent(event, "", context);
  if (isClean(checked, context) || redactShort(checked, context)) {
    return draftedOne(event, checked, context);
  }
  return inTurns(draftLong(event, checked, context));
}

/** Drafts the events of a batch in small parts: nothing is stored before the last one is checked. */
export function* draftBatch(events: readonly unknown[], context: DraftContext): Work<Drafted> {
  const drafts: AuditEvent[] = [];
  const named = new Set<string>();
  const steps = (): number => context.redactor?.steps ?? 0;
  let end = steps() + STEPS_OF_A_PART;
  for (let i = 0; i < events.length; i++) {
    const event = events[i];
    const checked = checkEvent(event, `events[${i}]`, context);
    if (!isClean(checked, context)) {
      if (!redactShort(checked, context)) yield* redactLong(checked, context);
      yield;
    }
    const draft = completeEvent(checked, context);
    drafts.push(draft);
    if (hasId(event)) named.add(draft.id);
    if (i % EVENTS_OF_A_PART === 0 || steps() > end) {
      yield;
      end = steps() + STEPS_OF_A_PART;
    }
  }
  return { drafts, named };
}

function* draftLong(event: unknown, checked: CheckedEvent, context: DraftContext): Work<Drafted> {
  yield* redactLong(checked, context);
  return draftedOne(event, checked, context);
}

function draftedOne(event: unknown, checked: CheckedEvent, context: DraftContext): Drafted {
  const draft = completeEvent(checked, context);
  return { drafts: [draft], named: hasId(event) ? new Set([draft.id]) : NO_IDS };
}

/** Whether no text of an event can contain a secret, as in nearly every event. */
function isClean(event: CheckedEvent, { redactor }: DraftContext): boolean {
  if (redactor === undefined) return true;
  // Reading fields by their names is faster than a loop over names.
  const { command, message, reason, resource } = event;
  return (
    !concerns(redactor, command) &&
    !concerns(redactor, message) &&
    !concerns(redactor, reason) &&
    !concerns(redactor, resource)
  );
}

/** Redacts the short texts of an event. Returns whether all of its texts are short. */
function redactShort(event: CheckedEvent, { redactor, count }: DraftContext): boolean {
  if (redactor === undefined) return true;
  let isDone = true;
  for (const field of REDACTED_FIELDS) {
    const text = event[field];
    if (text === undefined) continue;
    if (text.length > SHORT_LENGTH) isDone = false;
    else event[field] = counted(redactor.redact(text), count);
  }
  return isDone;
}

function concerns(redactor: Redactor, text: string | undefined): boolean {
  return text !== undefined && (text.length > SEARCHED_LENGTH || redactor.mayApply(text));
}

function* redactLong(event: CheckedEvent, { redactor, count }: DraftContext): Work<void> {
  if (redactor === undefined) return;
  for (const field of REDACTED_FIELDS) {
    const text = event[field];
    if (text === undefined || text.length <= SHORT_LENGTH) continue;
    event[field] = counted(yield* redactor.redactInParts(text), count);
  }
}

function counted({ text, redactions }: Redacted, count: CountRedaction): string {
  redactions.forEach(count);
  return text;
}
