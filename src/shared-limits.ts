/** How much memory and work all requests share at a time, and how much work may wait. */
import { REDACTION_TRIALS } from "./audit/routes.ts";
import { COSTLY_WORK, SHORT_ANSWERS, Turns, type TurnLimits } from "./core/scheduling/turns.ts";
import { DRAFT_READS } from "./portal/server/draft-routes.ts";
import { REPLAYS } from "./replay/replay.ts";

export const BODIES_IN_FLIGHT_BYTES = 64 << 20;
export const BODIES_IN_WORK_BYTES = 12 << 20;
export const UNREAD_ANSWERS_BYTES = 64 << 20;

export const MADE_AT_ONCE = 8;
export const SENT_AT_ONCE = 16;
/** The limits of text searches. All share the slices of one event loop, so more at a time only delay each other. */
export const SEARCHED_AT_ONCE = 8;
export const LINE_LENGTH = 256;

/**
 * The most pieces of exports that are read and turned into CSV at a time, and the most rows in several pieces: in all, of
 * one user, under one prefix, and of one organization under it. They wait without limit: an export that has begun is never
 * refused.
 */
export const CSV_PIECES: TurnLimits = { ...COSTLY_WORK, waiting: Infinity };

/** Large batches that are drafted or stored at a time, and that wait as parsed JSON. */
export const LARGE_BATCHES: TurnLimits = { ...COSTLY_WORK, waiting: 64 };

/** Smaller batches that are drafted at a time, and that wait, most with at most some 100 KiB of parsed JSON. */
export const BATCHES: TurnLimits = { ...COSTLY_WORK, waiting: 1024, areShort: true };

/** The turns of work behind single routes. */
export function turnsOfWork() {
  return {
    csvTurns: new Turns(CSV_PIECES),
    longRowTurns: new Turns(CSV_PIECES),
    largeBatches: new Turns(LARGE_BATCHES, "Too many large batches are being stored: try again"),
    batches: new Turns(BATCHES, "Too many batches are being stored: try again"),
    replays: new Turns(REPLAYS, "Too many replays are under way: try again"),
    redactionTrials: new Turns(REDACTION_TRIALS, "Too many texts are being redacted: try again"),
    draftReads: new Turns(DRAFT_READS, "Too many drafts: try again"),
  };
}

/** The turns of answers, by what a route says of its answer. */
export function turnsOfAnswers() {
  return {
    made: largeAnswers(MADE_AT_ONCE),
    sent: largeAnswers(SENT_AT_ONCE),
    searched: largeAnswers(SEARCHED_AT_ONCE),
    listed: new Turns(SHORT_ANSWERS),
  };
}

/**
 * One organization gets at most half of the turns, since its answers can also wait for each other, such as for the few
 * connections to a database that one organization uses: the fleet's lists of one held all turns for half a minute. One address
 * gets at most a quarter, and one prefix leaves two turns to the other: clients that read nothing hold theirs for 3 seconds.
 */
function largeAnswers(atOnce: number): Turns {
  const most = atOnce / 2;
  const limits = { atOnce, atOnceOfOne: most / 2, atOnceOfGroups: [atOnce - 2, most] };
  return new Turns({ ...limits, waiting: LINE_LENGTH });
}
