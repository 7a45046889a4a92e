import type { Policy } from "../../policies/schema.ts";
import { curlLine, type ShownRequest } from "../curl.ts";
import { ago, exactly } from "../format.ts";
import { html, type Html, type HtmlValue } from "../html.ts";
import type { Withheld } from "../withheld.ts";

/** The facts that every page with data needs beside its data. */
export interface PageContext {
  /** The service's time when the data was read, in milliseconds. */
  readonly now: number;
  /** The address of the API with its prefix, as shell lines name it. */
  readonly apiUrl: string;
  /** Whether requests need a credential, which shell lines then show. */
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

/** The word for a state. Colour and shape only repeat it. */
export function badge(word: string, tone: Tone): Html {
  return html`<span class="badge ${tone}">${word.charAt(0).toUpperCase()}${word.slice(1)}</span>`;
}

/** The badge of a decision. */
export function decisionBadge(decision: string | undefined): Html {
  if (decision === "ALLOWED") return badge("Allowed", "ok");
  if (decision === "DENIED") return badge("Denied", "bad");
  return badge("No decision", "none");
}

/** The age of a moment; the tooltip has the exact time. */
export function timeAgo(timestamp: string, now: number): Html {
  const exact = exactly(timestamp);
  return html`<time datetime="${timestamp}" title="${exact}"
    >${ago(Date.parse(timestamp), now)}</time
  >`;
}

/** The link to the parent page, above the heading. */
export function breadcrumb(href: string, name: string): Html {
  return html`<nav class="crumbs" aria-label="Breadcrumb">
    <a href="${href}">${name}</a> <span aria-hidden="true">/</span>
  </nav>`;
}

/** Renders lines for a shell, with a button that copies them. */
export function shellLines(lines: string): Html {
  return html`<div class="shell">
    <pre tabindex="0" aria-label="Shell command"><code>${lines}</code></pre>
    <button type="button" data-copy>Copy</button>
  </div>`;
}

/** Renders an option of a choice; the one that equals `chosen` is selected. */
export function option(value: string, label: string, chosen = ""): Html {
  const mark = value === chosen ? html` selected` : undefined;
  return html`<option value="${value}" ${mark}>${label}</option>`;
}

/** Renders the search field of a page, which the key `/` focuses. */
export function searchField(value: string | undefined, placeholder: string): Html {
  return html`<label for="q">Search</label>
    <input
      id="q"
      name="q"
      type="search"
      value="${value}"
      autocomplete="off"
      data-search
      placeholder="${placeholder}"
    />`;
}

/** Renders an empty state: a title, advice, and the shell line that adds the first entry. */
export function emptyState(title: string, advice: HtmlValue, request?: ShownRequest): Html {
  return html`<div class="empty">
    <strong>${title}</strong>
    <p>${advice}</p>
    ${request && shellLines(curlLine(request))}
  </div>`;
}

/** The credential headers of a shell line: a runtime's API key, or a user's token. */
export function credentialHeaders(
  { needsCredential }: PageContext,
  who: "runtime" | "person",
): readonly string[] {
  if (!needsCredential) return [];
  return [who === "runtime" ? "X-API-Key: <api_key>" : "Authorization: Bearer <token>"];
}

/** The rows of a list of facts that say who published and who activated a policy version, and when. */
export function publishedFacts(policy: PolicyOrigin, now: number): Html {
  return html`<dt>Published</dt>
    <dd>${timeAgo(policy.updated_at, now)} by ${policy.updated_by}</dd>
    ${
      policy.activated_at === undefined
        ? undefined
        : html`<dt>Activated again</dt>
            <dd>
              ${timeAgo(policy.activated_at, now)} by ${policy.activated_by ?? "an unknown user"}
            </dd>`
    }`;
}
