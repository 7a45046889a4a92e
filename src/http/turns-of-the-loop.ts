/**
 * The requests that begin in one turn of the event loop. Node accepts one connection in a turn, so clients that are
 * connected decide how long a new one waits. Requests wait for later turns in two lines, of which each begins some in a turn:
 *
 * - `ahead`: requests that were sent before the last one was answered. Other requests do not wait for them.
 * - `late`: requests for which a turn had no time left. Later requests wait behind them, and addresses take turns: behind a
 *   proxy one client can send hundreds a second.
 */
import type { Duplex } from "node:stream";
import { areArriving, onQuietTurn } from "../core/scheduling/arrivals.ts";
import { FairLine } from "../core/scheduling/fair-line.ts";
import type { Party } from "../core/scheduling/fair-share.ts";
import { setImmediate, systemStopwatch } from "../core/timers.ts";

/** The requests sent ahead that begin in a turn, of all connections. */
export const BEGIN_IN_A_TURN = 8;
/** The milliseconds for which a turn begins requests while connections arrive. */
const SLICE_MS = 0.5;
/** The size of all late requests together; beyond it requests begin at once. */
const MOST_LATE_BYTES = 16 << 20;

/**
 * The connections on which a request began in this turn. Node reads up to 2 MiB of each in one turn, and answers may be sent
 * meanwhile: 60 connections with requests sent ahead held up all others for seconds. So the next request of such a
 * connection begins in the next turn. A client that waits for its answers sends one in a turn.
 */
const begunNow = new Set<Duplex>();
/** The moment at which the first of them began, by the stopwatch. */
let turnBegan = 0;

/** At most one request of each connection. */
const ahead: (() => void)[] = [];

const late = new FairLine<{ readonly party: Party; readonly begin: () => void }>();
let bytesOfLate = 0;
let isLatePlanned = false;

/** A request, and the network that it comes from. */
interface Request {
  readonly socket: Duplex;
  readonly party: Party;
}

/**
 * Begins a request before which none waits on its connection.
 *
 * @param sizeOf computes the bytes that it takes while it waits
 */
export function beginInTurn(request: Request, begin: () => void, sizeOf: () => number): void {
  const { socket } = request;
  if (begunNow.has(socket)) return beginAhead(socket, begin);
  if (!isTurnFull() || !beginLater(request, begin, sizeOf())) beginNow(socket, begin);
}

/**
 * Begins a request that was sent ahead in a later turn, after connections that arrive. With one of each of 120 connections in every turn, new
 * connections waited for a second.
 */
export function beginAhead(socket: Duplex, begin: () => void): void {
  if (ahead.push(() => beginNow(socket, begin)) === 1) onQuietTurn(beginThoseAhead);
}

function beginNow(socket: Duplex, begin: () => void): void {
  if (begunNow.size === 0) {
    turnBegan = systemStopwatch();
    setImmediate(() => begunNow.clear());
  }
  begunNow.add(socket);
  begin();
}

function beginThoseAhead(): void {
  const now = ahead.splice(0, BEGIN_IN_A_TURN);
  if (ahead.length > 0) onQuietTurn(beginThoseAhead);
  for (const begin of now) begin();
}

/**
 * Whether connections arrive, and this turn has begun requests for long enough. Where 2,000 clients each sent a request
 * after each answer, a turn began hundreds of them, and a new connection waited for over 30 s.
 */
function isTurnFull(): boolean {
  if (!late.isEmpty) return true; // earlier requests come first
  return areArriving() && begunNow.size > 0 && systemStopwatch() - turnBegan > SLICE_MS;
}

/** Begins a request in a later turn. Returns `false`, and begins none, where all late ones would be too large. */
function beginLater({ socket, party }: Request, begin: () => void, size: number): boolean {
  if (bytesOfLate + size > MOST_LATE_BYTES) return false;
  bytesOfLate += size;
  const beginIt = (): void => {
    bytesOfLate -= size;
    beginNow(socket, begin);
  };
  late.add({ party, begin: beginIt });
  planLate();
  return true;
}

function planLate(): void {
  if (isLatePlanned || late.isEmpty) return;
  isLatePlanned = true;
  setImmediate(beginLate);
}

function beginLate(): void {
  const since = systemStopwatch();
  do late.next(() => true)?.begin();
  while (!late.isEmpty && systemStopwatch() - since < SLICE_MS);
  isLatePlanned = false;
  planLate();
}
