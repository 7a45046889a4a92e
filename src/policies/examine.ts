import { parseDocument } from "./document.ts";
import type { DraftEvent } from "./draft-event.ts";
import { draftRules, type RuleDrafts } from "./draft-rule.ts";
import { evaluate, type Verdict } from "./evaluate.ts";
import type { Command, PolicyDocument, Rule } from "./rules.ts";
import { Problems } from "./problems.ts";
import type { DraftEffect, Mode, PolicyProblem } from "./schema.ts";
import {
  isSignalboxDocument,
  readSignalboxDocument,
  refuseMisspelledSchema,
  type Reading,
} from "./signalbox-document.ts";
import { MAX_STEPS, TooMuchWork, StepBudget } from "./step-budget.ts";
import { placesIn } from "./text-places.ts";

/** A task for an examination. */
export interface Question {
  readonly yaml: string;
  /** A command to decide; if absent, the document's own tests are run. */
  readonly command: Command | undefined;
  /** The events and the effect of rules to add to the document. If present, nothing else is done. */
  readonly draft?: { readonly events: readonly DraftEvent[]; readonly effect: DraftEffect };
  /** Commands to decide, up to the limit of `DECIDING_STEPS`. If present, the rules and their lines are found too. */
  readonly commands?: readonly Command[] | undefined;
  /** Whether a thread sends the document back, which costs the receiving thread time. */
  readonly wantsDocument?: boolean;
  /** A limit of steps below the usual one. */
  readonly maxSteps?: number;
}

/** The result of an examination. Plain data, so that it can come from another thread. */
export interface Examined {
  /** The problems that prevent publishing; empty if the document is valid. */
  readonly problems: readonly PolicyProblem[];
  /** Present if the document is of our schema and has its shape, even if its tests fail. */
  readonly document: PolicyDocument | undefined;
  /** The document's verdict on the command. */
  readonly verdict: Verdict | undefined;
  /** The mode of a document that has a verdict. */
  readonly mode?: Mode | undefined;
  /** The line of the rule that decided. */
  readonly line?: number | undefined;
  /** The rules, and the rule that decided each command; null for the default. */
  readonly ruled?:
    | { readonly rules: readonly FoundRule[]; readonly by: readonly (string | null)[] }
    | undefined;
  /** The document with the new rules. */
  readonly drafted?: RuleDrafts | undefined;
  /** Whether the examination stopped at its limit of steps; the last problem then says so. */
  readonly isGivenUp: boolean;
}

/** A rule, with its first and its last line. */
export interface FoundRule extends Omit<Rule, "match" | "except"> {
  readonly line: number;
  readonly end_line: number;
}

/** Some tenths of a second of a thread. */
const DECIDING_STEPS = 30_000_000;

/** The most characters of a document that is kept. */
const MOST_KEPT = 1 << 16;

let kept: { readonly yaml: string; readonly reading: Reading | undefined } | undefined;

/** The message of a thread that has loaded this module and begins to examine. */
export const BEGUN = "begun";

/** Runs every check on a policy document, or evaluates a command by it. */
export function examine(question: Question): Examined {
  const { yaml, command, commands, draft, maxSteps = MAX_STEPS } = question;
  const work = new StepBudget(maxSteps);
  const problems = new Problems(yaml);
  let document: PolicyDocument | undefined;
  let verdict: Verdict | undefined;
  let line: number | undefined;
  let drafted: RuleDrafts | undefined;
  let ruled: Examined["ruled"];
  try {
    if (draft) {
      drafted = draftRules(draft.events, draft.effect, yaml, work);
      return { problems: [], document, verdict, drafted, isGivenUp: false };
    }
    const reading = commands ? readAgain(yaml, problems, work) : read(yaml, problems, work);
    document = reading?.document;
    if (commands) ruled = reading && ruledBy(reading, yaml, commands);
    else if (!command) reading?.runTests(work);
    else if (document) verdict = evaluate(document, command, work);
    const offset = reading?.offsetOfRule(verdict?.rule ?? "");
    if (offset !== undefined) ({ line } = placesIn(yaml)(offset));
  } catch (error) {
    if (!(error instanceof TooMuchWork)) throw error;
    problems.add(0, `This ${error.message}`);
  }
  const isGivenUp = work.spent > work.limit;
  const mode = verdict && (document?.mode ?? "enforce");
  return { problems: problems.list(), document, verdict, mode, line, ruled, isGivenUp };
}

function read(yaml: string, problems: Problems, work: StepBudget): Reading | undefined {
  const { root, aliases } = parseDocument(yaml, problems, work);
  if (!root) return undefined;
  if (isSignalboxDocument(root, aliases)) return readSignalboxDocument(root, aliases, problems);
  refuseMisspelledSchema(root, aliases, problems);
  return undefined;
}

/** Reads a document. The last one is kept, since each page of a rule reads one, and often the one of the page before. */
function readAgain(yaml: string, problems: Problems, work: StepBudget): Reading | undefined {
  const reading = kept?.yaml === yaml ? kept.reading : read(yaml, problems, work);
  kept = yaml.length <= MOST_KEPT ? { yaml, reading } : undefined;
  return reading;
}

function ruledBy(
  { document, spans }: Reading,
  yaml: string,
  commands: readonly Command[],
): Examined["ruled"] {
  const placeOf = placesIn(yaml);
  const lines = spans().map(([start, end]) => {
    // The span of a rule with a comment at its end reaches up to the next entry, in the line of that.
    const length = yaml.slice(start, end).trimEnd().length;
    return [placeOf(start).line, placeOf(start + length - 1).line] as const;
  });
  const rules = document.rules.map(({ match: _, except: __, ...rule }, i) => {
    const [line = 1, end = line] = lines[i] ?? [];
    return { ...rule, line, end_line: Math.max(line, end) };
  });
  const by: (string | null)[] = [];
  const work = new StepBudget(DECIDING_STEPS);
  try {
    for (const command of commands) by.push(evaluate(document, command, work).rule);
  } catch (error) {
    if (!(error instanceof TooMuchWork)) throw error;
  }
  return { rules, by };
}
