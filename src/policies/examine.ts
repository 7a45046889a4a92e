import { parseDocument } from "./document.ts";
import type { DraftEvent } from "./draft-event.ts";
import { draftPolicyWithRule } from "./draft-rule.ts";
import {
  type Command,
  type Effect,
  evaluate,
  type PolicyDocument,
  type Verdict,
} from "./evaluate.ts";
import { Problems } from "./problems.ts";
import type { PolicyProblem } from "./schema.ts";
import { isSignalboxDocument, readSignalboxDocument } from "./signalbox-document.ts";
import { MAX_STEPS, TooMuchWork, Work } from "./work.ts";

/** What an examination is asked. */
export interface Question {
  readonly yaml: string;
  /** A command to be decided; without one the document's own tests are run. */
  readonly command: Command | undefined;
  /** The event and the effect of a rule to be added to the document; nothing else is then asked. */
  readonly draft?: { readonly event: DraftEvent; readonly effect: Effect };
  /** Whether a thread is to send the document back, which costs the receiver time. */
  readonly wantsDocument?: boolean;
  /** Where the examination is given up, if below its usual limit. */
  readonly maxSteps?: number;
}

/** What an examination found. Plain data, so that it can come from another thread. */
export interface Examined {
  /** What stands against publishing the document; nothing when it is valid. */
  readonly problems: readonly PolicyProblem[];
  /** Present when the document is of our schema and has its shape, even if tests of it fail. */
  readonly document: PolicyDocument | undefined;
  /** How that document decides the command asked about. */
  readonly verdict: Verdict | undefined;
  /** The document with the rule that was asked for. */
  readonly drafted?: string | undefined;
  /** Whether the examination was given up at its limit of steps, which is then its last problem. */
  readonly isGivenUp: boolean;
}

/** What a thread says when it has loaded this module and begins to examine. */
export const BEGUN = "begun";

/** Checks a policy document by all that is known about it, or asks it about a command. */
export function examine(question: Question): Examined {
  const { yaml, command, draft, maxSteps = MAX_STEPS } = question;
  if (draft) {
    const drafted = draftPolicyWithRule(draft.event, draft.effect, yaml);
    return { problems: [], document: undefined, verdict: undefined, drafted, isGivenUp: false };
  }
  const work = new Work(maxSteps);
  const problems = new Problems(yaml);
  let document: PolicyDocument | undefined;
  let verdict: Verdict | undefined;
  try {
    const { root, aliases } = parseDocument(yaml, problems, work);
    const isOurs = root !== undefined && isSignalboxDocument(root, aliases);
    const reading = isOurs ? readSignalboxDocument(root, aliases, problems) : undefined;
    document = reading?.document;
    if (!command) reading?.runTests(work);
    else if (document) verdict = evaluate(document, command, work);
  } catch (error) {
    if (!(error instanceof TooMuchWork)) throw error;
    problems.add(0, `This ${error.message}`);
  }
  return { problems: problems.list(), document, verdict, isGivenUp: work.spent > work.limit };
}
