/**
 * Examines documents without blocking the event loop. A document that takes a few milliseconds is
 * examined on the event loop, one in each turn, and fewer while connections arrive: a new connection
 * would wait for all those that came with it. Any other document could take seconds and goes to a
 * thread. The estimated work decides, not the length alone: a short text can contain many tokens,
 * aliases with a large expansion, and many rules to be tried by many tests. Each thread takes a whole
 * processor and much memory, so only three run at a time. Each has its own limit of work, so that a usual
 * policy does not wait for larger ones.
 */
import { BadInput } from "../core/errors.ts";
import { Turns, type Asker } from "../core/scheduling/turns.ts";
import { examineInThread } from "./check-thread.ts";
import { MAX_DOCUMENT_BYTES } from "./document.ts";
import type { DraftEvent } from "./draft-event.ts";
import type { RuleDrafts } from "./draft-rule.ts";
import type { Verdict } from "./evaluate.ts";
import type { Command, PolicyDocument } from "./rules.ts";
import { examine, type Examined, type Question } from "./examine.ts";
import type { DraftEffect, Mode, PolicyProblem } from "./schema.ts";
import { parsingSteps } from "./step-budget.ts";

/** The limit on the event loop: these steps for parsing, and the same number for the rest. */
const INLINE_STEPS = 500_000;
/** The most documents that wait for the event loop; none has more than 125,000 characters. */
export const MAX_WAITING_INLINE = 512;
/** The most documents that wait for each thread; for the last one fewer, since each is up to a mebibyte. */
export const MAX_WAITING = 32;
export const MAX_WAITING_LARGE = 16;

// Shared by the whole process, like its processors.
const inline = oneAtATime(MAX_WAITING_INLINE);
/** The threads for smaller documents, with the most steps of each: some hundredths of a second, some tenths. */
const SMALLER = [
  { maxSteps: 5_000_000, turns: oneAtATime(MAX_WAITING) },
  { maxSteps: 50_000_000, turns: oneAtATime(MAX_WAITING) },
];
const large = oneAtATime(MAX_WAITING_LARGE);

/**
 * The party of a check: users and keys of one network take turns, so that the many documents of one user do
 * not delay the other users behind the same proxy.
 */
export function askerOf(
  client: Required<Asker>,
  actor: { readonly id: string } | undefined,
): Required<Asker> {
  const { party, gone } = client;
  return { party: [...party, actor?.id ?? ""], gone, recheck: () => client.recheck() };
}

/** The verdict of a document on a command; absent if the document is invalid or of another schema. */
export interface Simulated {
  readonly problems: readonly PolicyProblem[];
  readonly verdict: Verdict | undefined;
  readonly mode?: Mode | undefined;
  /** The line of the rule that decided. */
  readonly line?: number | undefined;
}

/**
 * Runs every check on a document. A document without problems can be published.
 *
 * @throws Unavailable when too many costly documents wait to be checked, or the check takes too long
 */
export async function checkDocument(asker: Asker, yaml: string): Promise<readonly PolicyProblem[]> {
  return (await answer(asker, { yaml, command: undefined })).problems;
}

/**
 * Reads a document of our schema, even if its tests fail; `undefined` for any other document.
 *
 * @throws Unavailable when too many costly documents wait to be checked, or the check takes too long
 */
export async function readDocument(
  asker: Asker,
  yaml: string,
): Promise<PolicyDocument | undefined> {
  return (await answer(asker, { yaml, command: undefined, wantsDocument: true })).document;
}

/**
 * Refuses a document that could not be published.
 *
 * @throws BadInput naming the first problem with its line and column, and the number of further problems
 * @throws Unavailable when too many costly documents wait to be checked, or the check takes too long
 */
export async function requireValid(asker: Asker, yaml: string): Promise<void> {
  const problems = await checkDocument(asker, yaml);
  if (problems.length > 0) throw new BadInput(summaryOf(problems));
}

/**
 * Problems as one sentence: the first problem, and the number of further ones.
 *
 * @param called the caller's name for the document: the field that contained it, or a stored version
 */
export function summaryOf(problems: readonly PolicyProblem[], called = "yaml"): string {
  const [first, ...others] = problems;
  if (!first) return `${called}: valid`;
  const more = others.length === 0 ? "" : ` (and ${others.length} more)`;
  return `${called}, line ${first.line}, column ${first.column}: ${first.message}${more}`;
}

/**
 * Evaluates a command by a document.
 *
 * @throws Unavailable when too many costly documents wait to be checked, or the check takes too long
 */
export function simulateDocument(asker: Asker, yaml: string, command: Command): Promise<Simulated> {
  return answer(asker, { yaml, command });
}

/**
 * Finds the rules of a document, and the rule that decides each command.
 *
 * @returns `undefined` for an invalid document and for one of another schema
 * @throws Unavailable when too many costly documents wait to be checked, or the check takes too long
 */
export async function findRules(
  asker: Asker,
  yaml: string,
  commands: readonly Command[],
): Promise<Examined["ruled"]> {
  return (await answer(asker, { yaml, command: undefined, commands })).ruled;
}

/**
 * Drafts a policy: a document with rules that decide the commands of events.
 *
 * @param yaml the document to extend; empty for a new document
 * @returns `undefined` if one of the events has no value that a rule could match
 * @throws BadInput if deciding the commands by the document takes too much work
 * @throws Unavailable when too many costly documents wait to be checked, or the work takes too long
 */
export async function draftPolicyRules(
  asker: Asker,
  events: readonly DraftEvent[],
  effect: DraftEffect,
  yaml: string,
): Promise<RuleDrafts | undefined> {
  const draft = { events, effect };
  const { drafted, problems } = await answer(asker, { yaml, command: undefined, draft });
  if (!drafted && problems.length > 0) throw new BadInput(summaryOf(problems, "The policy"));
  return drafted;
}

async function answer(asker: Asker, question: Question): Promise<Examined> {
  const { yaml, commands = [] } = question;
  // A document that is too large is refused by its size alone, so it needs no thread.
  if (Buffer.byteLength(yaml, "utf8") > MAX_DOCUMENT_BYTES) return examine(question);
  if (commands.length === 0 && parsingSteps(yaml, INLINE_STEPS) <= INLINE_STEPS) {
    const limited = { ...question, maxSteps: INLINE_STEPS };
    const examined = await inline.run(asker, () => examine(limited));
    if (!examined.isGivenUp) return examined;
  }
  for (const { maxSteps, turns } of SMALLER) {
    if (parsingSteps(yaml, maxSteps) > maxSteps) continue;
    const examined = await turns.run(asker, () => examineInThread({ ...question, maxSteps }));
    if (!examined.isGivenUp) return examined;
  }
  return large.run(asker, () => examineInThread(question, asker.gone));
}

function oneAtATime(waiting: number): Turns {
  const limits = { atOnce: 1, atOnceOfOne: 1, waiting };
  return new Turns(limits, "Too many costly policies are being checked: try again");
}
