import { parseDocument } from "./document.ts";
import type { DraftEvent } from "./draft-event.ts";
import { draftRules, type RuleDrafts } from "./draft-rule.ts";
import { lineAt } from "./document-edit.ts";
import { type Command, evaluate, type PolicyDocument, type Verdict } from "./evaluate.ts";
import { Problems } from "./problems.ts";
import type { Effect, PolicyProblem } from "./schema.ts";
import { isSignalboxDocument, readSignalboxDocument } from "./signalbox-document.ts";
import { MAX_STEPS, TooMuchWork, StepBudget } from "./step-budget.ts";

/** A task for an examination. */
export interface Question {
  readonly yaml: string;
  /** A command to decide; without one the document's own tests are run. */
  readonly command: Command | undefined;
  /** The events and the effect of rules to add to the document; then nothing else is done. */
  readonly draft?: { readonly events: readonly DraftEvent[]; readonly effect: Effect };
  /** Whether a thread sends the document back, which costs the receiver time. */
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
  /** The line of the rule that decided. */
  readonly line?: number | undefined;
  /** The document with the new rules. */
  readonly drafted?: RuleDrafts | undefined;
  /** Whether the examination stopped at its limit of steps; the last problem then says so. */
  readonly isGivenUp: boolean;
}

/** The message of a thread that has loaded this module and begins to examine. */
export const BEGUN = "begun";

/** Runs every check on a policy document, or evaluates a command by it. */
export function examine(question: Question): Examined {
  const { yaml, command, draft, maxSteps = MAX_STEPS } = question;
  const work = new StepBudget(maxSteps);
  const problems = new Problems(yaml);
  let document: PolicyDocument | undefined;
  let verdict: Verdict | undefined;
  let line: number | undefined;
  let drafted: RuleDrafts | undefined;
  try {
    if (draft) {
      drafted = draftRules(draft.events, draft.effect, yaml, work);
      return { problems: [], document, verdict, drafted, isGivenUp: false };
    }
    const { root, aliases } = parseDocument(yaml, problems, work);
    const isOurs = root !== undefined && isSignalboxDocument(root, aliases);
    const reading = isOurs ? readSignalboxDocument(root, aliases, problems) : undefined;
    document = reading?.document;
    if (!command) reading?.runTests(work);
    else if (document) verdict = evaluate(document, command, work);
    const offset = reading?.offsetOfRule(verdict?.rule ?? "");
    if (offset !== undefined) line = lineAt(yaml, offset);
  } catch (error) {
    if (!(error instanceof TooMuchWork)) throw error;
    problems.add(0, `This ${error.message}`);
  }
  const isGivenUp = work.spent > work.limit;
  return { problems: problems.list(), document, verdict, line, isGivenUp };
}
