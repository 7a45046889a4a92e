import type { Policy } from "../../policies/schema.ts";
import { curlLine, type ShownRequest } from "../curl.ts";
import { ago, exactly } from "../format.ts";
import { html, type Html, type HtmlValue } from "../html.ts";
import type { Withheld } from "../withheld.ts";

/** The facts that every page with data needs beside its data. */
export interface PageContext {
  /** The service's own time when the data was read, in milliseconds. */
  readonly now: number;
  /** Where the API is, with its prefix, as a shell line names it. */
  readonly apiUrl: string;
  /** Whether a shell line has to show a credential. */
  readonly needsCredential: boolean;
  /** The operations that the reader's role does not include; absent where roles restrict nothing. */
  readonly withheld?: Withheld | undefined;
  /** The signed-in user; absent on the server, which does not know its readers. */
  readonly email?: string | undefined;
}

/** The path of the API on the page's own origin; shell lines may name it by another address. */
export function apiPath({ apiUrl }: Pick<PageContext, "apiUrl">): string {
  return new URL(apiUrl).pathname;
}

/** Whether the page calls `/api/v1`, where data can be changed and changes are recorded. */
export function callsV1({ apiUrl }: PageContext): boolean {
  return apiUrl.endsWith("/api/v1");
}

type PolicyOrigin = Pick<Policy, "updated_at" | "updated_by" | "activated_at" | "activated_by">;

export type Tone = "ok" | "bad" | "warn" | "idle" | "none";

/** A word about a state: its colour and its shape say the same, and neither says more than the word. */
export function badge(word: string, tone: Tone): Html {
  return html`<span class="badge ${tone}">${word.charAt(0).toUpperCase()}${word.slice(1)}</span>`;
}

/** What a policy decided. */
export function decisionBadge(decision: string | undefined): Html {
  if (decision === "ALLOWED") return badge("Allowed", "ok");
  if (decision === "DENIED") return badge("Denied", "bad");
  return badge("No decision", "none");
}

/** A moment as people think of it; exact on hover. */
export function timeAgo(timestamp: string, now: number): Html {
  const exact = exactly(timestamp);
  return html`<time datetime="${timestamp}" title="${exact}"
    >${ago(Date.parse(timestamp), now)}</time
  >`;
}

/** The way back to the page that a page is below of, above its heading. */
export function breadcrumb(href: string, name: string): Html {
  return html`<nav class="crumbs" aria-label="Breadcrumb">
    <a href="${href}">${name}</a> <span aria-hidden="true">/</span>
  </nav>`;
}

/** Lines for a shell, with a button that copies them where modules run. */
export function shellLines(lines: string): Html {
  return html`<div class="shell">
    <pre tabindex="0" aria-label="Shell command"><code>${lines}</code></pre>
    <button type="button" data-copy>Copy</button>
  </div>`;
}

/** What stands where there is nothing yet: what it would be, and the line that makes it be. */
export function emptyState(title: string, advice: HtmlValue, request?: ShownRequest): Html {
  return html`<div class="empty">
    <strong>${title}</strong>
    <p>${advice}</p>
    ${request && shellLines(curlLine(request))}
  </div>`;
}

/** The headers that a shell line for the API needs: a runtime's own key, or a person's token. */
export function credentialHeaders(
  { needsCredential }: PageContext,
  who: "runtime" | "person",
): readonly string[] {
  if (!needsCredential) return [];
  return [who === "runtime" ? "X-API-Key: <api_key>" : "Authorization: Bearer <token>"];
}

/** Who published a policy version and when, and who activated it again: rows of a list of facts. */
export function publishedFacts(policy: PolicyOrigin, now: number): Html {
  return html`<dt>Published</dt>
    <dd>${timeAgo(policy.updated_at, now)} by ${policy.updated_by}</dd>
    ${
      policy.activated_at === undefined
        ? undefined
        : html`<dt>Activated again</dt>
            <dd>
              ${timeAgo(policy.activated_at, now)} by ${policy.activated_by ?? "somebody unknown"}
            </dd>`
    }`;
}
