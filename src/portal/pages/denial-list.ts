import type { AuditEvent } from "../../audit/schema.ts";
import { shorten } from "../format.ts";
import { html, type Html } from "../html.ts";
import { AUDIT_PATH } from "../page-link.ts";
import { searchesFrom, type AuditView } from "./audit-view.ts";
import { subjectOf, timeAgo } from "./parts.ts";

const COMMAND_LENGTH = 160;
const REASON_LENGTH = 240;

/** Renders denied events with their reasons; each leads to itself in a view of the denials. */
export function denialList(events: readonly AuditEvent[], now: number, view: AuditView): Html {
  const searchOf = searchesFrom({ ...view, decision: "DENIED" });
  return html`<ul class="denials">
    ${events.map((event) => denial(event, now, AUDIT_PATH + searchOf({ event: event.id })))}
  </ul>`;
}

function denial(event: AuditEvent, now: number, href: string): Html {
  const who = [event.executor, event.runtime_name].filter((name) => name !== undefined);
  return html`<li>
    <a href="${href}">
      <code>${shorten(subjectOf(event), COMMAND_LENGTH)}</code>
      <span class="faint small">${timeAgo(event.timestamp, now)}</span>
      <span class="why small"
        ><b>${shorten(event.reason ?? "No reason given", REASON_LENGTH)}</b>
        <span class="by">${shorten(who.join(" on "), COMMAND_LENGTH)}</span></span
      >
    </a>
  </li>`;
}
