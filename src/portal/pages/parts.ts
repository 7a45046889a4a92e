import { capitalize } from "../../core/capitalize.ts";
import type { AuditEvent } from "../../audit/schema.ts";
import type { Policy } from "../../policies/schema.ts";
import { curlLine, type ShownRequest } from "../curl.ts";
import { ago, exactly, shorten } from "../format.ts";
import { html, type Html, type HtmlValue } from "../html.ts";
import type { Withheld } from "../withheld.ts";

/** The shown length of a name on the page of its thing. */
export const LONGEST_SHOWN = 256;

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

/** The status of an event that was reported without a decision and without a status. */
const NO_STATUS = "unknown";
const FAILED = /^(?:failed|error)$/i;
const SUCCEEDED = /^(?:succeeded|success)$/i;
const STATUS_LENGTH = 24;

export type Tone = "ok" | "bad" | "warn" | "idle" | "none";

/** The word for a state. Colour and shape only repeat it. */
export function badge(word: string, tone: Tone): Html {
  return html`<span class="badge ${tone}">${capitalize(word)}</span>`;
}

/** An event or a verdict with a decision, or an event that says how a command ended. */
type Decided = Pick<AuditEvent, "policy_decision" | "observed_decision"> &
  Partial<Pick<AuditEvent, "status">>;

/** The badge of the decision on an event, or of a policy in observe mode; without a decision, of the status. */
export function decisionBadge({
  policy_decision: decision,
  observed_decision: observed,
  status = NO_STATUS,
}: Decided): Html {
  if (observed === "DENIED") return badge("Would be denied", "warn");
  if (decision === "ALLOWED") return badge("Allowed", "ok");
  if (decision === "DENIED") return badge("Denied", "bad");
  if (status === NO_STATUS || status.trim() === "") return badge("No decision", "none");
  const tone = FAILED.test(status) ? "warn" : SUCCEEDED.test(status) ? "ok" : "none";
  return badge(shorten(status, STATUS_LENGTH), tone);
}

/** The text that names an event in a list. For a tool that runs no command it is the capability. */
export function subjectOf({
  command,
  message,
  capability,
}: Pick<AuditEvent, "command" | "message" | "capability">): string {
  return command ?? message ?? capability ?? "(no command)";
}

/** The age of a moment; the tooltip has the exact time. */
export function timeAgo(timestamp: string, now: number): Html {
  const exact = exactly(timestamp);
  return html`<time datetime="${timestamp}" title="${exact}"
    >${ago(Date.parse(timestamp), now)}</time
  >`;
}

/** The age of a moment that may not have come yet. */
export function timeOrNever(timestamp: string | undefined, now: number): Html {
  return timestamp === undefined ? html`<span class="faint">never</span>` : timeAgo(timestamp, now);
}

/** The link to the parent page, above the heading. */
export function breadcrumb(href: string, name: string): Html {
  return html`<nav class="crumbs" aria-label="Breadcrumb">
    <a href="${href}">${name}</a> <span aria-hidden="true">/</span>
  </nav>`;
}

/** Renders the head of a page below another one, such as that of one runtime below the fleet. */
export function subpageHead(href: string, parent: string, title: string, aside?: HtmlValue): Html {
  return html`<div class="page-head">
    ${breadcrumb(href, parent)}
    <h1>${shorten(title, LONGEST_SHOWN)}</h1>
    ${aside}
  </div>`;
}

/** Renders lines for a shell, with a button that copies them. */
export function shellLines(lines: string): Html {
  return html`<div class="shell">
    <pre tabindex="0" aria-label="Shell command"><code>${lines}</code></pre>
    <button type="button" data-copy>Copy</button>
  </div>`;
}

/** Renders an empty state: a title, advice, and the shell line that adds the first entry. */
export function emptyState(title: string, advice: HtmlValue, request?: ShownRequest): Html {
  return html`<div class="empty">
    <strong>${title}</strong>
    <p>${advice}</p>
    ${request && shellLines(curlLine(request))}
    ${request?.headers?.includes(TOKEN_HEADER) ? html`<p class="faint">${TOKEN_ORIGIN}</p>` : undefined}
  </div>`;
}

/** A card that has an empty state alone. */
export function emptyCard(title: string, advice: HtmlValue, request?: ShownRequest): Html {
  return html`<section class="card">${emptyState(title, advice, request)}</section>`;
}

const TOKEN_HEADER = "Authorization: Bearer <token>";
/** The words that stand beside a shell line with the token of a user. */
export const TOKEN_ORIGIN = html`The <code>&lt;token&gt;</code> is in the answer to
  <a href="/portal/api#postV1AuthLogin"><code>POST /auth/login</code></a
  >, which takes your email and password.`;

/**
 * A request to the API for a shell line. Where it needs a credential it shows a runtime's API key, or a user's token.
 *
 * @param operation the method and the path below the prefix: `POST /users`
 */
export function apiRequest(
  { apiUrl, needsCredential }: PageContext,
  who: "runtime" | "person",
  operation: string,
  body?: unknown,
): ShownRequest {
  const [method = "", path] = operation.split(" ");
  const credential = who === "runtime" ? "X-API-Key: <api_key>" : TOKEN_HEADER;
  return { method, url: `${apiUrl}${path}`, headers: needsCredential ? [credential] : [], body };
}

/** Names with their values, for `facts`; those with the value `undefined` are left out. */
export type Facts = readonly (readonly [name: string, value: HtmlValue])[];

/** Renders a list of facts. */
export function facts(rows: Facts): Html {
  return html`<dl class="facts inside">
    ${rows
      .filter(([, value]) => value !== undefined)
      .map(
        ([name, value]) =>
          html`<dt>${name}</dt>
            <dd>${value}</dd>`,
      )}
  </dl>`;
}

/**
 * The facts about who published and who last activated a stored policy version, and when.
 *
 * @param through shown behind the activation: what else led to it
 */
export function publishedFacts(policy: PolicyOrigin, now: number, through?: Html): Facts {
  const activated = activation(policy, now);
  return [
    ["Published", html`${timeAgo(policy.updated_at, now)} by <bdi>${policy.updated_by}</bdi>`],
    ["Activated", activated && html`${activated}${through}`],
  ];
}

/** The time and the author of the last activation of a stored version; `undefined` without one. */
export function activation(policy: PolicyOrigin, now: number): Html | undefined {
  const { activated_at: at, activated_by: by = "an unknown user" } = policy;
  return at === undefined ? undefined : html`${timeAgo(at, now)} by <bdi>${by}</bdi>`;
}

/**
 * Renders a card with a heading.
 *
 * @param id the id of the heading, unique in the page
 * @param aside shown beside the heading
 */
export function card(id: string, title: HtmlValue, body: HtmlValue, aside?: HtmlValue): Html {
  return html`<section class="card" aria-labelledby="${id}">
    <header>
      <h2 id="${id}">${title}</h2>
      ${aside}
    </header>
    ${body}
  </section>`;
}

/** Renders a table that scrolls on a narrow screen; with a name, also by the keys. */
export function table(
  name: string | undefined,
  className: string,
  headings: readonly HtmlValue[],
  rows: HtmlValue,
): Html {
  const region = name && html` tabindex="0" role="region" aria-label="${name}"`;
  return html`<div class="scroll" ${region}>
    <table class="${className}">
      <thead>
        <tr>
          ${headings.map((heading) => html`<th scope="col">${heading}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows}
      </tbody>
    </table>
  </div>`;
}

/** The heading of a column of numbers. */
export function numberHeading(words: string): Html {
  return html`<span class="num">${words}</span>`;
}

/** The heading of the column that has the actions of a row. */
export const ACTIONS = html`<span class="visually-hidden">Actions</span>`;
