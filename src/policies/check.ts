/**
 * Examining documents without stalling the event loop. What takes a few milliseconds is done at once;
 * anything else could take seconds and goes to a thread. What decides is the work, never the length
 * alone: a short text can hold many tokens, aliases that stand for much, and rules times tests. Few
 * threads run at a time, since each takes a whole processor.
 */
import { BadInput, Unavailable } from "../core/errors.ts";
import { examineInThread } from "./check-thread.ts";
import { MAX_DOCUMENT_BYTES } from "./document.ts";
import type { Command, PolicyDocument, Verdict } from "./evaluate.ts";
import { examine, type Examined, type Question } from "./examine.ts";
import type { PolicyProblem } from "./schema.ts";
import { Turns } from "./turns.ts";
import { parsingSteps } from "./work.ts";

/** What is done on the event loop: parsing takes at most so many steps, and the rest as many again. */
const INLINE_STEPS = 500_000;
const RETRY_SECONDS = 5;

/** Documents in line, of all who ask, and of one of them. */
export const MAX_WAITING = 32;
export const MAX_WAITING_OF_ONE = 16;

/** Two threads at work. Of the process, as its processors are. */
const threads = new Turns({
  running: 2,
  waiting: MAX_WAITING,
  waitingOfOne: MAX_WAITING_OF_ONE,
});

/** How a document decides a command: no verdict when it is not of our schema, or wrong. */
export interface Simulated {
  readonly problems: readonly PolicyProblem[];
  readonly verdict: Verdict | undefined;
}

/**
 * Checks a document by all that is known about it; one without problems may be published.
 *
 * @param asker who wants to know: those who ask take turns where documents are costly
 * @throws Unavailable when too many costly documents wait to be checked, or the check takes too long
 */
export async function checkDocument(
  asker: string,
  yaml: string,
): Promise<readonly PolicyProblem[]> {
  return (await answer(asker, { yaml, command: undefined })).problems;
}

/**
 * Reads a document of our schema, also one whose tests fail; `undefined` for any other.
 *
 * @throws Unavailable when too many costly documents wait to be checked, or the check takes too long
 */
export async function readDocument(
  asker: string,
  yaml: string,
): Promise<PolicyDocument | undefined> {
  return (await answer(asker, { yaml, command: undefined, wantsDocument: true })).document;
}

/**
 * Refuses a document that could not be published.
 *
 * @throws BadInput naming the first problem with its line and column, and how many more there are
 * @throws Unavailable when too many costly documents wait to be checked, or the check takes too long
 */
export async function requireValid(asker: string, yaml: string): Promise<void> {
  const problems = await checkDocument(asker, yaml);
  if (problems.length > 0) throw new BadInput(summaryOf(problems));
}

/**
 * Problems as one sentence: the first of them, and how many more there are.
 *
 * @param called what the document is to the caller: the field that held it, or a stored version
 */
export function summaryOf(problems: readonly PolicyProblem[], called = "yaml"): string {
  const [first, ...others] = problems;
  if (!first) return `${called}: valid`;
  const more = others.length === 0 ? "" : ` (and ${others.length} more)`;
  return `${called}, line ${first.line}, column ${first.column}: ${first.message}${more}`;
}

/**
 * Asks a document about a command.
 *
 * @throws Unavailable when too many costly documents wait to be checked, or the check takes too long
 */
export function simulateDocument(
  asker: string,
  yaml: string,
  command: Command,
): Promise<Simulated> {
  return answer(asker, { yaml, command });
}

async function answer(asker: string, question: Question): Promise<Examined> {
  const { yaml } = question;
  // One that is too large is refused by its size alone, which needs no thread.
  if (Buffer.byteLength(yaml, "utf8") > MAX_DOCUMENT_BYTES) return examine(question);
  if (parsingSteps(yaml, INLINE_STEPS) <= INLINE_STEPS) {
    const examined = examine(question, INLINE_STEPS);
    if (!examined.isGivenUp) return examined;
  }
  if (threads.isFull(asker)) {
    throw new Unavailable("Too many costly policies are being checked, try again", RETRY_SECONDS);
  }
  return threads.run(asker, () => examineInThread(question));
}
