import type { HeaderList } from "../http/reply.ts";
import type { Page } from "../metadata/service.ts";
import { html, type Html } from "./html.ts";
import { STYLESHEET_PATH } from "./style.ts";

/** What a page shows between its header and its footer. */
export interface PageContent {
  /** The page's own path, which the navigation marks. */
  readonly path: string;
  readonly title: string;
  readonly body: Html;
}

const POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  "img-src 'self' data:",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** Guards every page: nothing runs in it, frames it, or learns where its reader came from. */
export const PAGE_HEADERS: HeaderList = [
  "Content-Security-Policy",
  POLICY,
  "Referrer-Policy",
  "no-referrer",
  "X-Frame-Options",
  "DENY",
];

const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E" +
  "%3Crect width='16' height='16' rx='4' fill='%231d2125'/%3E" +
  "%3Ccircle cx='8' cy='8' r='4' fill='%234cc38a'/%3E%3C/svg%3E";

const NAVIGATION = [
  { path: "/", label: "Home" },
  { path: "/portal/api", label: "API" },
  { path: "/openapi.yaml", label: "OpenAPI" },
] as const;

/** Puts a page's content into the frame that all pages share, with the headers that guard it. */
export function layOut({ path, title, body }: PageContent): Page {
  const links = NAVIGATION.map((entry) => {
    const current = entry.path === path ? html` aria-current="page"` : undefined;
    return html`<a href="${entry.path}" ${current}>${entry.label}</a>`;
  });
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        <link rel="stylesheet" href="${STYLESHEET_PATH}" />
        <link rel="icon" href="${ICON}" />
      </head>
      <body>
        <a class="skip" href="#content">Skip to the content</a>
        <header>
          <a class="name" href="/">Signalbox</a>
          <nav aria-label="Portal">${links}</nav>
        </header>
        <main id="content">${body}</main>
        <footer>Everything on these pages is computed from the running service.</footer>
      </body>
    </html>`;
  return { html: page.toString(), headers: PAGE_HEADERS };
}

/** Shows lines for a shell; one click selects all of them. */
export function shellLines(lines: string): Html {
  return html`<pre tabindex="0"><code>${lines}</code></pre>`;
}
