import { parseDocument } from "./document.ts";
import { type Command, evaluate, type PolicyDocument, type Verdict } from "./evaluate.ts";
import type { PolicyProblem } from "./schema.ts";
import { isSignalboxDocument, readSignalboxDocument } from "./signalbox-document.ts";

/** What an examination is asked: about a document, and about a command it might decide. */
export interface Question {
  readonly yaml: string;
  readonly command: Command | undefined;
}

/** What an examination found. Plain data, so that it can come from another thread. */
export interface Examined {
  /** What stands against publishing the document; nothing when it is valid. */
  readonly problems: readonly PolicyProblem[];
  /** Present when the document is of our schema and has its shape, even if tests of it fail. */
  readonly document: PolicyDocument | undefined;
  /** How that document decides the command asked about. */
  readonly verdict: Verdict | undefined;
}

/** What a thread says when it has loaded this module and begins to examine. */
export const BEGUN = "begun";

/** Checks a policy document by all that is known about it, and asks it about a command. */
export function examine({ yaml, command }: Question): Examined {
  const { root, aliases, problems } = parseDocument(yaml);
  const isOurs = root !== undefined && isSignalboxDocument(root, aliases);
  const document = isOurs ? readSignalboxDocument(root, aliases, problems) : undefined;
  const verdict = document && command ? evaluate(document, command) : undefined;
  return { problems: problems.list(), document, verdict };
}
