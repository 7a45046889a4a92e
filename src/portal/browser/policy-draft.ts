import { DRAFT_KEY } from "../handover.ts";

/** The draft of this tab; `undefined` without one. */
export function readDraft(): string | undefined {
  try {
    return sessionStorage.getItem(DRAFT_KEY) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Keeps a draft in this tab; `undefined` removes it. */
export function writeDraft(text: string | undefined): void {
  try {
    if (text === undefined) sessionStorage.removeItem(DRAFT_KEY);
    else sessionStorage.setItem(DRAFT_KEY, text);
  } catch {
    // Without storage, or when it is full, the draft lasts as long as the page.
  }
}
