/** The draft of the policy editor in this tab, and the rules that other pages want drafted into it. */
import type { RuleDraft } from "../../policies/schema.ts";
import {
  COLLECTED_KEY,
  DISCARDED_KEY,
  DRAFT_KEY,
  type EditorDraft,
  type RulesToDraft,
  TO_DRAFT_KEY,
} from "../editor-draft.ts";
import { html } from "../html.ts";
import { call } from "./api.ts";
import { ask } from "./dialog.ts";
import { returnDraft } from "./left-drafts.ts";
import { session } from "./session.ts";
import { fromJson, tabStorage } from "./storage.ts";
import { toast } from "./toast.ts";

/** The draft of this tab, or one that its user left at a sign-out; `undefined` without one. */
export function storedDraft(key: string = DRAFT_KEY): EditorDraft | undefined {
  const user = session()?.email;
  if (key === DRAFT_KEY && user !== undefined && returnDraft(user))
    toast("This is the draft that you left when you signed out");
  const found = fromJson<Partial<EditorDraft> | null>(tabStorage.get(key));
  const { yaml, base = "", replaces = "" } = found ?? {};
  return typeof yaml === "string" ? { ...found, yaml, base, replaces } : undefined;
}

/** Keeps the draft of this tab; `undefined` removes it. */
export function storeDraft(draft: EditorDraft | undefined, key: string = DRAFT_KEY): void {
  tabStorage.set(key, draft && JSON.stringify(draft));
}

/**
 * Drafts the rules that another page asked for, if it did, and then calls `done`. If there is a draft, asks
 * whether they are added to it.
 */
export async function draftRules(done: () => void): Promise<void> {
  const wanted = fromJson<RulesToDraft | null>(tabStorage.take(TO_DRAFT_KEY));
  if (!Array.isArray(wanted?.events)) return;
  const draft = storedDraft();
  const into = async (old: EditorDraft | undefined): Promise<void> => {
    await draftInto(old, wanted);
    done();
  };
  if (!draft) return into(undefined);
  const begun = draft.base === "" ? "" : html` that begins with <b class="mono">${draft.base}</b>`;
  ask({
    title: "You have a draft",
    body: html`<p>This draft${begun} is not published yet.</p>
      <p>
        <label><input type="radio" name="how" value="add" checked /> Add the rules to it</label
        ><br />
        <label><input type="radio" name="how" value="new" /> Begin a new draft instead</label>
      </p>`,
    confirm: "Draft the rules",
    run: (form) => into(form.get("how") === "add" ? draft : undefined),
  });
}

async function draftInto(
  draft: EditorDraft | undefined,
  { events, effect }: RulesToDraft,
): Promise<void> {
  const body = { events, effect, ...(draft && { yaml: draft.yaml }) };
  const found = await call<RuleDraft>("POST", "/policies/draft-rule", { body });
  const lines = found.yaml.split("\n");
  const added = found.changes.map(({ message, line }) => {
    return { message, line, text: lines[line - 1] ?? "" };
  });
  const replaced = draft ? undefined : storedDraft();
  if (replaced) storeDraft(replaced, DISCARDED_KEY);
  const { base_version: base } = found;
  const begun = draft ?? { base, replaces: base };
  storeDraft({ ...begun, yaml: found.yaml, notes: [...(draft?.notes ?? []), ...added] });
  tabStorage.set(COLLECTED_KEY, undefined);
}
