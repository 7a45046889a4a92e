import type { IncomingMessage } from "node:http";
import { prefersHtml } from "../../http/negotiate.ts";
import { text, type Reply } from "../../http/reply.ts";
import { html } from "../html.ts";
import { layOut, type PortalFrame } from "./layout.ts";

const LONGEST_PATH = 200;

/**
 * The 404 page, for browsers that open an unknown path. Requests below `/api` and requests that do not
 * prefer HTML get `undefined`: programs expect JSON.
 */
export function missingPage(
  frame: PortalFrame,
  { method = "", url = "", headers }: IncomingMessage,
): Reply | undefined {
  const [path = ""] = url.split("?");
  const isRead = method === "GET" || method === "HEAD";
  if (!isRead || path.startsWith("/api/") || !prefersHtml(headers.accept)) return undefined;
  const body = html`<div class="page-head"><h1>Page not found</h1></div>
    <section class="card">
      <div class="empty">
        <strong>There is nothing at this address</strong>
        <p><code>${path.slice(0, LONGEST_PATH)}</code></p>
        <p>
          Check the address, or go to the <a href="/">overview</a>, the
          <a href="/portal/audit">audit</a> or the <a href="/portal/policies">policies</a>.
        </p>
      </div>
    </section>`;
  const page = layOut(frame, { path, title: "Page not found", module: "missing", body });
  const own = [...page.headers, "Vary", "Accept, Origin"];
  return text(404, "text/html; charset=utf-8", page.html, own);
}
