import type { AuditEvent } from "../../audit/schema.ts";
import type { Effect } from "../../policies/schema.ts";
import { DRAFT_KEY, EDITOR_PATH } from "../handover.ts";
import { call } from "./api.ts";

/** Downloads an export by a ticket, so that no credential is part of an address. */
export async function download(href: string): Promise<void> {
  const { bom, ...rest } = Object.fromEntries(new URL(href).searchParams);
  const body = { ...rest, bom: bom === "true" };
  const { url } = await call<{ readonly url: string }>("POST", "/audit/export-tickets", { body });
  const link = document.createElement("a");
  link.href = url;
  link.download = "";
  link.click();
}

/** Opens the policy editor with a draft made from an event. The draft is handed over within this tab. */
export async function openRuleDraft(event: AuditEvent, effect: Effect): Promise<void> {
  const body = { event: event.id, effect };
  const { yaml } = await call<{ readonly yaml: string }>("POST", "/policies/draft-rule", { body });
  sessionStorage.setItem(DRAFT_KEY, yaml);
  location.assign(EDITOR_PATH);
}
