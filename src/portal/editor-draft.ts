import type { Effect } from "../policies/schema.ts";

/**
 * The keys of the policy drafts in `sessionStorage`, as JSON of an `EditorDraft`. The editor keeps its text there,
 * so that it survives a reload and a sign-in, and removes it when the text is published. A draft that is
 * discarded or replaced is kept under the second key until the next one, so that it can be brought back.
 */
export const DRAFT_KEY = "signalbox.draft";
export const DISCARDED_KEY = "signalbox.draft.discarded";

/** The path of the policy editor. `?from=<version>` begins with that version's text. */
export const EDITOR_PATH = "/portal/policies/new";

/** A draft of the policy editor. */
export interface EditorDraft {
  readonly yaml: string;
  /** The version whose text the draft began with; empty without one. */
  readonly base: string;
  /** The version that the draft is meant to replace: the active one when it was begun; empty without one. */
  readonly replaces: string;
  /** The changes that were drafted from events. */
  readonly notes?: readonly DraftNote[];
}

/** A change that was drafted from an event. */
export interface DraftNote {
  readonly message: string;
  /** The line of the change as it was drafted, counted from 1, and its text. */
  readonly line: number;
  readonly text: string;
}

/** The key under which a page hands over a `RulesToDraft` to the editor, and that of the events it has collected. */
export const TO_DRAFT_KEY = "signalbox.draft.rules";
export const COLLECTED_KEY = "signalbox.collected";

/** Rules to draft: the ids of events, and the effect of the rules that decide their commands. */
export interface RulesToDraft {
  readonly events: readonly string[];
  readonly effect: Effect;
}
