/**
 * Drafts a policy from audit events: a document with rules that decide the same commands, and tests of the
 * rules. First the document decides each command. Deny wins over allow, so if a rule denies a command that
 * should be allowed, the draft adds an exception to that rule. Rules and exceptions are narrow; comments
 * beside them show how to widen or narrow them.
 */
import { isMap, isSeq, type YAMLMap } from "yaml";
import {
  editable,
  indented,
  offsetOfException,
  withEntries,
  withException,
  type EditableDocument,
} from "./document-edit.ts";
import { canDraft, type DraftEvent } from "./draft-event.ts";
import {
  exceptionEntry,
  freeId,
  oppositeOf,
  ruleText,
  scopeWords,
  testText,
} from "./draft-texts.ts";
import { decisionOf, evaluate, type Verdict } from "./evaluate.ts";
import { Problems } from "./problems.ts";
import type { DraftEffect, Effect, RuleDraftChange } from "./schema.ts";
import { byNoRule, commandOf, eachResource } from "./reported-command.ts";
import { SCHEMA_NAME } from "./document-keys.ts";
import { readSignalboxDocument, type Reading } from "./signalbox-document.ts";
import type { StepBudget } from "./step-budget.ts";
import { placesIn } from "./text-places.ts";

/** The margins of lists that people write; drafted tests take over that of their list. */
const TEST_MARGINS = [2, 0, 4];

const ALONE = `# This document stands alone: if you publish it as it is, it replaces the whole active policy.
schema: ${SCHEMA_NAME}
default: deny
rules: []
`;

/** A drafted document, and its change for each event. */
export interface RuleDrafts {
  readonly yaml: string;
  readonly changes: readonly RuleDraftChange[];
  /** Whether the draft is a new document because the given document cannot be extended. */
  readonly standsAlone: boolean;
}

/**
 * Drafts a policy in which rules decide the commands of events. If the document cannot be extended
 * (another schema, or lists in flow style), the draft contains only the new rules.
 *
 * @param yaml the document to extend; empty for a new document
 * @param work counts reading the document and deciding the commands
 * @returns `undefined` if one of the events has no value that a rule could match
 * @throws TooMuchWork when the work exceeds its limit
 */
export function draftRules(
  events: readonly DraftEvent[],
  effect: DraftEffect,
  yaml: string,
  work: StepBudget,
): RuleDrafts | undefined {
  if (!events.every(canDraft)) return undefined;
  const extended = new Drafting(yaml, work).add(events, effect);
  if (extended) return { ...extended, standsAlone: false };
  const alone = new Drafting(ALONE, work).add(events, effect);
  return alone && { ...alone, standsAlone: true };
}

/** A change for an event. Its line is added when the document is complete. */
type Step = Omit<RuleDraftChange, "line">;

/** Adds rules, exceptions and tests to a document. */
class Drafting {
  #document: EditableDocument | undefined;
  /** The last document that was read: each is asked several times. */
  #read: { readonly root: YAMLMap; readonly reading: Reading | undefined } | undefined;
  readonly #work: StepBudget;
  readonly #steps: Step[] = [];

  constructor(yaml: string, work: StepBudget) {
    this.#work = work;
    this.#document = yaml === "" ? undefined : editable(yaml, work);
  }

  /** Returns `undefined` if the document cannot be extended. */
  add(
    events: readonly DraftEvent[],
    wanted: DraftEffect,
  ): Omit<RuleDrafts, "standsAlone"> | undefined {
    for (const event of events) if (!this.#addEvent(event, wanted)) return undefined;
    const document = this.#document;
    if (!document) return undefined;
    const changes = this.#steps.map((step) => ({ ...step, line: this.#lineOf(document, step) }));
    return { yaml: document.text, changes };
  }

  /** Adds what an event needs: to deny it, one of its resources is enough if the document denies it already. */
  #addEvent(event: DraftEvent, wanted: DraftEffect): boolean {
    const each = eachResource(event);
    const isDenied = (one: DraftEvent): boolean => {
      const { decision, rule } = this.#verdictOn(one) ?? {};
      return decision === "DENIED" && rule !== null;
    };
    const denied = wanted === "deny" && each.length > 1 ? each.filter(isDenied) : [];
    for (const event of denied.length > 0 ? denied : each) {
      const effect = wanted === "test" ? this.#noteDecision(event) : wanted;
      if (effect === undefined) return false;
      if (wanted !== "test" && !this.#decide(event, effect)) return false;
      if (!this.#document) return false;
      const rule = this.#verdictOn(event)?.rule ?? null;
      const document = this.#document;
      const changed =
        wanted === "test" ? undefined : this.#withChangedTest(document, event, effect, rule);
      this.#document = changed ?? this.#withTest(document, event, effect, rule);
    }
    return true;
  }

  /** Notes how the document decides an event's command, and returns that effect. */
  #noteDecision(event: DraftEvent): Effect | undefined {
    const verdict = this.#verdictOn(event);
    if (!verdict) return undefined;
    const effect = verdict.decision === "ALLOWED" ? "allow" : "deny";
    this.#noteDecided(event, effect, verdict.rule);
    return effect;
  }

  /**
   * Changes the document so that it decides an event's command as wanted, by a rule or by its default. To allow
   * a command, each rule that denies it gets an exception.
   */
  #decide(event: DraftEvent, effect: Effect): boolean {
    for (const excepted = new Set<string>(); ;) {
      const verdict = this.#verdictOn(event);
      if (!verdict) return false;
      const { decision, rule } = verdict;
      if (decision === decisionOf(effect) && (rule !== null || effect === "allow")) {
        if (excepted.size === 0) this.#noteDecided(event, effect, rule);
        return true;
      }
      if (effect === "deny" || rule === null) return this.#addRule(event, effect);
      // The exception of a command that is too long to be matched as a whole may not match it.
      if (excepted.has(rule)) return true;
      excepted.add(rule);
      if (!this.#except(event, rule)) return false;
    }
  }

  #except(event: DraftEvent, rule: string): boolean {
    this.#document =
      this.#document && withException(this.#document, rule, exceptionEntry(event), this.#work);
    const message = `The rule "${rule}" denies it, and deny wins over allow: the draft adds an exception to that rule`;
    this.#note(event, "exception", rule, message);
    return this.#document !== undefined;
  }

  /** Adds a rule and its test: the narrower variant if the wider one would break the document's tests. */
  #addRule(event: DraftEvent, effect: Effect): boolean {
    const document = this.#document;
    if (!document) return false;
    const id = freeId(event, effect, new Set(idsIn(document.root)));
    const withRule = (isExact: boolean): EditableDocument | undefined => {
      const rule = ruleText(event, effect, id, isExact);
      return (
        this.#withRuleAndTest(document, event, effect, id, rule) ??
        withEntries(document, { rules: rule }, this.#work)
      );
    };
    const wide = withRule(false);
    const isExact = !wide || this.#failures(wide) > this.#failures(document);
    this.#document = isExact ? withRule(true) : wide;
    const does = effect === "deny" ? "denies" : "allows";
    this.#note(event, "rule", id, `A new rule ${does} it${scopeWords(event, isExact)}`);
    return this.#document !== undefined;
  }

  /** One edit for both, since each parses the whole document. `undefined` if the test must be added or changed later. */
  #withRuleAndTest(
    document: EditableDocument,
    event: DraftEvent,
    effect: Effect,
    id: string,
    rule: string,
  ): EditableDocument | undefined {
    const test = testText(event, effect, id);
    if (test === "" || marginOf(oppositeOf(event, effect), document.text) !== undefined) {
      return undefined;
    }
    return withEntries(document, { rules: rule, tests: test }, this.#work);
  }

  #withTest(
    document: EditableDocument,
    event: DraftEvent,
    effect: Effect,
    rule: string | null,
  ): EditableDocument {
    const test = testText(event, effect, rule);
    if (test === "" || marginOf(test, document.text) !== undefined) return document;
    return withEntries(document, { tests: test }, this.#work) ?? document;
  }

  /**
   * The document whose drafted test of the event expects another decision than before. Two tests of one command that
   * expect opposites would never pass together; `undefined` if there is no such test.
   */
  #withChangedTest(
    { text }: EditableDocument,
    event: DraftEvent,
    effect: Effect,
    decidedBy: string | null,
  ): EditableDocument | undefined {
    const test = testText(event, effect, decidedBy);
    const opposite = oppositeOf(event, effect);
    const margin = marginOf(opposite, text);
    if (margin === undefined) return undefined;
    const old = indented(opposite, margin);
    const start = text.indexOf(`\n${old}`) + 1;
    const behind = text.slice(start + old.length);
    const rest = behind.replace(new RegExp(`^ {${margin + 2}}rule: .*\\n`), "");
    const changed = editable(text.slice(0, start) + indented(test, margin) + rest, this.#work);
    const last = changed && this.#steps.at(-1);
    if (last) {
      const message = `${last.message}. The test that expected the opposite is changed`;
      this.#steps[this.#steps.length - 1] = { ...last, message };
    }
    return changed;
  }

  #noteDecided(event: DraftEvent, effect: Effect, rule: string | null): void {
    const by = rule === null ? byNoRule(commandOf(event).command) : `by the rule "${rule}"`;
    const verb = effect === "allow" ? "allows" : "denies";
    const test = testText(event, effect, rule);
    const isThere = marginOf(test, this.#document?.text ?? "") !== undefined;
    const added = isThere ? "it has the test, too" : "only a test was added";
    const end = test === "" ? "no test can express it" : added;
    this.#note(event, "none", rule, `The policy ${verb} it already, ${by}: ${end}`);
  }

  #note(
    { id: event }: DraftEvent,
    change: Step["change"],
    rule: string | null,
    message: string,
  ): void {
    this.#steps.push({ event, change, rule, message });
  }

  #reading({ text, root, aliases }: EditableDocument): Reading | undefined {
    if (this.#read?.root !== root) {
      this.#read = { root, reading: readSignalboxDocument(root, aliases, new Problems(text)) };
    }
    return this.#read.reading;
  }

  #verdictOn(event: DraftEvent): Verdict | undefined {
    const document = this.#document && this.#reading(this.#document)?.document;
    return document && evaluate(document, commandOf(event), this.#work);
  }

  /** The number of the document's tests that fail. */
  #failures({ text, root, aliases }: EditableDocument): number {
    const problems = new Problems(text);
    readSignalboxDocument(root, aliases, problems)?.runTests(this.#work);
    return problems.count;
  }

  #lineOf(document: EditableDocument, { change, rule }: Step): number {
    if (rule === null) return 1;
    const offset =
      change === "exception"
        ? offsetOfException(document, rule)
        : this.#reading(document)?.offsetOfRule(rule);
    return placesIn(document.text)(offset ?? 0).line;
  }
}

/** The margin with which a text contains a test; `undefined` if it does not. */
function marginOf(test: string, text: string): number | undefined {
  if (test === "") return undefined;
  return TEST_MARGINS.find((margin) => text.includes(`\n${indented(test, margin)}`));
}

function idsIn(root: YAMLMap | undefined): readonly unknown[] {
  const rules = root?.get("rules");
  return isSeq(rules) ? rules.items.map((rule) => (isMap(rule) ? rule.get("id") : undefined)) : [];
}
