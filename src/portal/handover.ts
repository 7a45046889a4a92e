/**
 * The key of the policy draft in `sessionStorage`. A page that hands a draft to the editor stores the whole
 * document there and opens the editor. The editor keeps its text under the same key, so that it survives
 * a reload and a sign-in, and removes it when the text is published or discarded.
 */
export const DRAFT_KEY = "signalbox.draft";

/** The path of the policy editor. `?from=<version>` begins with that version's text. */
export const EDITOR_PATH = "/portal/policies/new";
