/** The events that one draft of rules is made from, kept in this tab until the policy editor has drafted them. */
import type { Effect } from "../../policies/schema.ts";
import { counted } from "../format.ts";
import { COLLECTED_KEY, EDITOR_PATH, TO_DRAFT_KEY, type RulesToDraft } from "../editor-draft.ts";
import { html } from "../html.ts";
import { parsed } from "./markup.ts";
import { fromJson, tabStorage } from "./storage.ts";

/** Opens the policy editor, which drafts rules that decide the commands of events. */
export function openRuleDraft(events: readonly string[], effect: Effect): void {
  tabStorage.set(TO_DRAFT_KEY, JSON.stringify({ events, effect } satisfies RulesToDraft));
  location.assign(EDITOR_PATH);
}

/** Adds an event to those that one draft is made from. */
export function collect(id: string): void {
  tabStorage.set(COLLECTED_KEY, JSON.stringify([...new Set([...collected(), id])]));
  showCollected();
}

/** The ids of the collected events. */
function collected(): readonly string[] {
  const found = fromJson<unknown>(tabStorage.get(COLLECTED_KEY));
  return Array.isArray(found) ? found.filter((id): id is string => typeof id === "string") : [];
}

/** Shows the collected events in a corner, with the buttons that draft their rules. */
export function showCollected(): void {
  const events = collected();
  document.getElementById("collected")?.remove();
  if (events.length === 0) return;
  const shown = html`<aside class="collected" id="collected" aria-label="Collected events">
    ${counted(events.length, "event")} collected
    <span class="faint small">Draft rules that</span>
    <button type="button" data-all="allow">allow them</button>
    <button type="button" data-all="deny">deny them</button>
    <button type="button" class="quiet" data-all="">Forget them</button>
  </aside>`;
  document.body.append(parsed(shown));
  const bar = document.getElementById("collected");
  bar?.addEventListener("click", ({ target }) => {
    const all = target instanceof Element ? target.getAttribute("data-all") : null;
    if (all === "allow" || all === "deny") {
      openRuleDraft(events, all);
    } else if (all === "") {
      tabStorage.set(COLLECTED_KEY, undefined);
      showCollected();
    }
  });
}
