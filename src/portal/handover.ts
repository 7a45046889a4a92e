/**
 * How a text gets to the policy editor: another page puts the whole document into `sessionStorage`
 * under this key and leads to this path. The editor keeps what is typed in the same place, so that
 * it survives a reload and a sign-in, and clears it when the text is published or discarded.
 */
export const DRAFT_KEY = "signalbox.draft";

/** Where policies are written. `?from=<version>` begins with that version's text. */
export const EDITOR_PATH = "/portal/policies/new";
