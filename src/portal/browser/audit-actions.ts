import type { AuditEvent } from "../../audit/schema.ts";
import type { Policy } from "../../policies/schema.ts";
import { draftPolicyWithRule, type Effect } from "../draft-rule.ts";
import { DRAFT_KEY, EDITOR_PATH } from "../handover.ts";
import { ApiError, call, read } from "./api.ts";

/** Downloads what the link of an export asks for: by a ticket, so that no credential stands in an address. */
export async function download(href: string): Promise<void> {
  const { bom, ...rest } = Object.fromEntries(new URL(href).searchParams);
  const body = { ...rest, bom: bom === "true" };
  const { url } = await call<{ readonly url: string }>("POST", "/audit/export-tickets", { body });
  const link = document.createElement("a");
  link.href = url;
  link.download = "";
  link.click();
}

/** Leaves for the policy editor with a draft made of an event, which stays within this tab. */
export async function draftRule(event: AuditEvent, effect: Effect): Promise<void> {
  const draft = draftPolicyWithRule(event, effect, await readActive());
  if (draft === undefined) return;
  sessionStorage.setItem(DRAFT_KEY, draft);
  location.assign(EDITOR_PATH);
}

/** The text of the active policy; none is no failure here. */
async function readActive(): Promise<string | undefined> {
  try {
    return (await read<Policy>("/policies", { query: { active: "true" } })).yaml;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  }
}
