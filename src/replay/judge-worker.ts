/** The thread of one replay: takes rows of the audit log, and answers each message with one of its own. */
import { parentPort } from "node:worker_threads";
import { examine } from "../policies/examine.ts";
import type { PolicyDocument } from "../policies/rules.ts";
import type { PolicyProblem } from "../policies/schema.ts";
import { StepBudget, TooMuchWork } from "../policies/step-budget.ts";
import { eachRow } from "./recorded-row.ts";
import type { Compared } from "./report.ts";
import { Tally } from "./tally.ts";

/** The documents to compare; without a base, the recorded decisions count. */
export interface JudgeQuestion {
  readonly candidate: string;
  readonly base: string | undefined;
  readonly compare: Compared;
  readonly examples: number;
  /** The most steps of all decisions. */
  readonly maxSteps: number;
  /** Further members of the report. */
  readonly facts: Readonly<Record<string, string>>;
}

/** The messages to the thread: the question first, then rows of JSON in order, then the end. */
export type ToJudge = JudgeQuestion | Uint8Array | "end";

/** The report as JSON, and the numbers that a guard compares. */
export interface Judged {
  readonly report: Uint8Array;
  readonly newly_denied: number;
  readonly newly_allowed: number;
}

/** The problems of a document that cannot decide; none for a document of another schema. */
export interface Unfit {
  readonly document: "candidate" | "base";
  readonly problems: readonly PolicyProblem[];
}

/** The answer to a message: a document that cannot decide, the number of events so far, or the result. */
export type FromJudge =
  | { readonly unfit: Unfit | undefined }
  | { readonly events: number }
  | { readonly judged: Judged }
  | { readonly tooMuch: string };

const NEWLINE = 0x0a;

let tally: Tally | undefined;
let facts: JudgeQuestion["facts"] = {};
let events = 0;
/** The parts of a row that is longer than a piece. */
let parts: Uint8Array[] = [];
/** The answer to each row after the one that took too much work: the pieces that follow may begin within a row. */
let tooMuch: string | undefined;

parentPort?.on("message", (message: ToJudge) => {
  parentPort?.postMessage(answer(message));
});

function answer(message: ToJudge): FromJudge {
  try {
    if (typeof message === "object" && "candidate" in message) return { unfit: begin(message) };
    if (tooMuch !== undefined) return { tooMuch };
    return message === "end" ? { judged: judged() } : { events: take(message) };
  } catch (error) {
    if (!(error instanceof TooMuchWork)) throw error;
    tooMuch = error.message;
    return { tooMuch };
  }
}

function begin(question: JudgeQuestion): Unfit | undefined {
  const documents = new Map<Unfit["document"], PolicyDocument>();
  for (const name of ["candidate", "base"] as const) {
    const yaml = question[name];
    if (yaml === undefined) continue;
    // With a command to decide, the tests of the document are not run.
    const { document, problems } = examine({ yaml, command: { command: "" } });
    if (!document || problems.length > 0) return { document: name, problems };
    documents.set(
      name,
      question.compare === "effects" ? document : { ...document, mode: "enforce" },
    );
  }
  const candidate = documents.get("candidate") as PolicyDocument;
  const { examples, maxSteps } = question;
  ({ facts } = question);
  events = 0;
  parts = [];
  tooMuch = undefined;
  const comparison = { candidate, base: documents.get("base"), examples };
  tally = new Tally(comparison, new StepBudget(maxSteps));
  return undefined;
}

function take(piece: Uint8Array): number {
  const end = piece.lastIndexOf(NEWLINE) + 1; // a newline in a text is escaped, so each one here ends a row
  if (end > 0) {
    events += eachRow(Buffer.concat([...parts, piece.subarray(0, end)]), (row) => tally?.add(row));
    parts = [];
  }
  if (end < piece.length) parts.push(piece.subarray(end));
  return events;
}

function judged(): Judged {
  const counts = (tally as Tally).counts();
  const { newly_denied, newly_allowed } = counts;
  const report = new TextEncoder().encode(JSON.stringify({ ...counts, ...facts }));
  tally = undefined; // the thread may rest, and the commands take memory
  return { report, newly_denied, newly_allowed };
}
