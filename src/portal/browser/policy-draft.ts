import { DRAFT_KEY } from "../handover.ts";

/** The text that is being written; `undefined` for none. */
export function readDraft(): string | undefined {
  try {
    return sessionStorage.getItem(DRAFT_KEY) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Keeps the text that is being written, or forgets it. */
export function writeDraft(text: string | undefined): void {
  try {
    if (text === undefined) sessionStorage.removeItem(DRAFT_KEY);
    else sessionStorage.setItem(DRAFT_KEY, text);
  } catch {
    // Without storage, or when it is full, the draft lasts as long as the page.
  }
}
