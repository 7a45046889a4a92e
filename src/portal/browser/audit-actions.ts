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
