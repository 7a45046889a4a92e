import { formatTimestamp } from "../../core/time.ts";
import type { HeaderList } from "../../http/reply.ts";
import { PREFIXES } from "../../http/route.ts";
import type { Page, ServiceDescription } from "../../metadata/service.ts";
import { SAME_ORIGIN, type PortalAssets } from "./assets.ts";
import { documentTitle } from "../format.ts";
import { html, type Html } from "../html.ts";
import { modeOf, type PortalMode } from "./mode.ts";
import { leastRolesOf } from "../withheld.ts";

/** The services that the frame of every page uses. */
export interface PortalFrame {
  readonly description: ServiceDescription;
  readonly assets: PortalAssets;
}

/** A page inside the frame. */
export interface PageContent {
  /** The path that the navigation marks. */
  readonly path: string;
  readonly title: string;
  readonly body: Html;
  /** The entry of `browser/entries/` that serves the page and its frame. */
  readonly module: string;
  /** A further entry that the page loads. */
  readonly further?: string | undefined;
  /** The time of the page in milliseconds; absent on pages that are cached. */
  readonly now?: number;
  /** The mode of the page; that of most pages when absent. */
  readonly mode?: PortalMode;
  /** Leaves out the navigation, the tools and the footer. */
  readonly isBare?: true;
}

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'", // markup is made in browser/markup.ts alone
  "trusted-types signalbox",
].join("; ");

/** The security headers of every page: only its own modules run in it, and no other site can frame it or read it. */
export const PAGE_HEADERS: HeaderList = [
  "Content-Security-Policy",
  POLICY,
  "Referrer-Policy",
  "no-referrer",
  "X-Frame-Options",
  "DENY",
  "Cross-Origin-Opener-Policy",
  "same-origin",
  ...SAME_ORIGIN,
];

/** The pages in the navigation, each with the second key of its shortcut `g …`. */
const NAVIGATION = [
  { path: "/", label: "Overview", key: "o" },
  { path: "/portal/audit", label: "Audit", key: "a" },
  { path: "/portal/policies", label: "Policies", key: "p" },
  { path: "/portal/fleet", label: "Fleet", key: "f" },
  { path: "/portal/agents", label: "Agents", key: "n" },
  { path: "/portal/catalog", label: "Catalog", key: "c" },
  { path: "/portal/access", label: "Access", key: "s" },
  { path: "/portal/api", label: "API", key: "i" },
] as const;

/** Renders a page in the shared frame, with its security headers. */
export function layOut(frame: PortalFrame, content: PageContent): Page {
  const { path, title, body, module, further, now } = content;
  const { description } = frame;
  const { isOpen, prefix } = content.mode ?? modeOf(description);
  const page = html`<!doctype html>
    <html lang="en">
      ${head(frame, title, module, further)}
      <body
        data-prefix="${prefix}"
        data-api-url="${description.baseUrl()}${prefix}"
        data-open="${String(isOpen)}"
        data-now="${now}"
        ${rolesOf(description, prefix)}
        ${content.isBare && html`class="bare"`}
      >
        ${content.isBare ? BARE_HEAD : side(description, path)}
        <main id="content" tabindex="-1">${body}</main>
        ${content.isBare ? undefined : foot(description)}
        <div class="toasts" id="toasts" role="status" aria-live="polite"></div>
      </body>
    </html>`;
  return { html: page.toString(), headers: PAGE_HEADERS };
}

function side(description: ServiceDescription, path: string): Html {
  return html`<a class="skip" href="#content">Skip to the content</a>
    <header class="side">
      <a class="brand" href="/">${BRAND}Signalbox</a>
      <nav aria-label="Portal">${navigation(description, path)}</nav>
      ${demoNote(description)}
      <div class="tools">
        <span class="session" id="session"></span>
        <button type="button" class="quiet needs-modules" id="theme">Theme: system</button>
        <button type="button" class="quiet needs-modules" id="zone">Times: UTC</button>
        <button type="button" class="quiet needs-modules" id="keys">Keys <kbd>?</kbd></button>
      </div>
    </header>`;
}

function foot({ build, edition, environment }: ServiceDescription): Html {
  return html`<footer class="foot">
    Signalbox ${build.version} · ${edition} · ${environment} · <a href="/portal/api">API</a> ·
    <a href="/openapi.yaml">OpenAPI</a> · <a href="/metadata">Metadata</a>
  </footer>`;
}

/** The operations that take a role, for pages that call `/api/v1` while roles are enforced. */
function rolesOf({ roles, rows }: ServiceDescription, prefix: string): Html | undefined {
  if (roles === "carried" || prefix !== PREFIXES.v1) return undefined;
  return html` data-roles="${JSON.stringify(leastRolesOf(rows))}"`;
}

const BRAND = html`<svg viewBox="0 0 16 16" aria-hidden="true">
  <rect width="16" height="16" rx="4" fill="#1d2125"></rect>
  <circle cx="8" cy="5" r="2.2" fill="#ff7a6e"></circle>
  <circle cx="8" cy="11" r="2.2" fill="#4cc38a"></circle>
</svg>`;

const BARE_HEAD = html`<header class="bare-head">
  <a class="brand" href="/">${BRAND}Signalbox</a>
</header>`;

function head({ assets }: PortalFrame, title: string, entry: string, further?: string): Html {
  const { early } = assets;
  const entries = further === undefined ? [entry] : [entry, further];
  const modules = entries.flatMap((name) => assets.module(name) ?? []);
  return html`<head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>${documentTitle(title)}</title>
    ${early === undefined ? undefined : html`<script src="${early}"></script>`}
    <link rel="stylesheet" href="${assets.stylesheet(entry)}" />
    <link rel="icon" type="image/svg+xml" href="${assets.icon}" />
    ${modules.map((module) => html`<script type="module" src="${module}"></script>`)}
  </head>`;
}

/** The notice on every page of a demo. */
function demoNote(description: ServiceDescription): Html | undefined {
  const { demo } = description;
  if (!demo) return undefined;
  const words = modeOf(description).isOpen ? "Open demo: anyone can write here." : "Demo.";
  if (demo.nextResetAt === undefined) return html`<p class="demo-note">${words}</p>`;
  const at = formatTimestamp(demo.nextResetAt);
  return html`<p class="demo-note">
    ${words} <span class="wide-only">All of it is reset</span>
    <span class="narrow-only">Reset</span> at <time datetime="${at}">${at.slice(11, 16)} UTC</time>.
  </p>`;
}

/** The links to the pages of this build. */
function navigation({ rows }: ServiceDescription, current: string): readonly Html[] {
  const paths = new Set(["/", ...rows.map(({ path }) => path)]);
  return NAVIGATION.filter(({ path }) => paths.has(path)).map(({ path, label, key }) => {
    const mark = path === current ? html` aria-current="page"` : undefined;
    return html`<a href="${path}" data-key="${key}" ${mark}>${label}</a>`;
  });
}
