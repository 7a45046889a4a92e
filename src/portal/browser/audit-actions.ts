import { auditTitle } from "../pages/audit.ts";
import { ANEW, queryOf, shortMoment, viewHref, type AuditView } from "../pages/audit-view.ts";
import { call } from "./api.ts";
import { download } from "./downloads.ts";
import type * as ViewsModule from "./entries/audit-views.ts";
import { parsed } from "./markup.ts";
import { toast } from "./toast.ts";

/** Downloads an export by a ticket, so that no credential is part of an address. */
export async function downloadExport(href: string): Promise<void> {
  const { bom, ...rest } = Object.fromEntries(new URL(href).searchParams);
  const body = { ...rest, bom: bom === "true" };
  const { url } = await call<{ readonly url: string }>("POST", "/audit/export-tickets", { body });
  download(url);
}

/** Copies the address of a view with its times fixed, so that another reader sees the same events. */
export function copyLink(view: AuditView, readAt: number): void {
  const { from, to = shortMoment(readAt + 1) } = queryOf(view, readAt);
  const link = viewHref(view, { range: undefined, live: undefined, from, to });
  navigator.clipboard.writeText(new URL(link, location.origin).href).then(
    () => toast("Copied, with the times of this view"),
    () => toast("The browser does not allow this page to copy"),
  );
}

/** Loads the menu of saved views when it is opened first. */
export function serveViewsMenu(content: HTMLElement, viewOf: () => AuditView): void {
  let isServed = false;
  const load = async ({ target: menu }: Event): Promise<void> => {
    if (!(menu instanceof HTMLElement) || menu.id !== "views" || isServed) return;
    isServed = true;
    const address = new URL("./audit-views.js", import.meta.url).href;
    const { serveViews } = (await import(address)) as typeof ViewsModule;
    const hrefOf = (): string => viewHref(viewOf(), ANEW);
    serveViews(menu, { parsed, toast, hrefOf, titleOf: () => auditTitle({ view: viewOf() }) });
  };
  content.addEventListener("toggle", (event) => void load(event), true);
}
