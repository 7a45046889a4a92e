import { isKeyScope, KEY_SCOPES, scopeInWords } from "../../core/key-scopes.ts";
import type { ApiKey } from "../../keys/schema.ts";
import { count } from "../format.ts";
import { html, type Html } from "../html.ts";
import { choice, option, textField } from "./fields.ts";
import { accessPage, accessTable, addForm, rowButton } from "./access.ts";
import {
  apiRequest,
  badge,
  card,
  emptyState,
  type PageContext,
  shellLines,
  timeAgo,
  timeOrNever,
} from "./parts.ts";
import { firstHeartbeat, policyLines, runtimeLines } from "./runtime-lines.ts";
import type { DataPage } from "./source.ts";
import { allowedOrNote, isAllowed } from "../withheld.ts";

/** A key that was just created, with its text, which is shown only once. */
export interface FreshKey {
  readonly name: string;
  readonly scopes: string;
  readonly api_key: string;
  readonly warning: string;
}

/** The model of the API keys page. */
export interface KeysModel extends PageContext {
  readonly keys: readonly ApiKey[];
  readonly fresh?: FreshKey | undefined;
}

/** The page of the API keys. */
export const apiKeys: DataPage<KeysModel> = {
  ...accessPage("keys", renderKeys),
  read: async (source, context) => ({ ...context, keys: await source.keys() }),
};

/** Renders the API keys and the form that creates one. */
function renderKeys(model: KeysModel): Html {
  const { keys, fresh, now } = model;
  const revoked = keys.filter((key) => key.revoked).length;
  const expired = keys.filter((key) => !key.revoked && hasExpired(key, now)).length;
  const active = count(keys.length - revoked - expired);
  const headings = ["Name", "State", "Scope", "Begins with", "Created", "Expires", "Last used"];
  const list =
    keys.length === 0 ? noKeys(model) : accessTable(headings, keys, (key) => row(key, model));
  const numbers = html`<span class="faint small"
    >${active} active,${expired > 0 ? html` ${count(expired)} expired,` : undefined}
    ${count(revoked)} revoked</span
  >`;
  return html`${fresh && freshKey(fresh, model)}
  ${allowedOrNote(model, "POST /api-keys", "Creating or revoking keys", newKey())}
  ${card("keys-list", "API keys", list, numbers)}`;
}

function newKey(): Html {
  return addForm({
    name: "key",
    title: "New API key",
    fields: html`${textField({
      id: "key-name",
      name: "name",
      label: "What it is for",
      placeholder: "build agents",
      maxLength: 256,
    })}
    ${scopeField()}
    ${textField({
      id: "key-expires",
      name: "expires",
      label: "Days until it expires, if ever",
      type: "number",
      placeholder: "never",
      isOptional: true,
    })}`,
    button: "Create key",
  });
}

function scopeField(): Html {
  return choice({
    ...{ id: "key-scopes", name: "scopes", label: "What it may do" },
    // What a runtime needs, and no more: a stolen key of this scope cannot read the audit.
    options: KEY_SCOPES.map((scope) => option(scope, scope, "report")),
    hint: KEY_SCOPES.map((scope) => html`<p><b>${scope}</b>: ${scopeInWords(scope)}.</p>`),
  });
}

function freshKey(fresh: FreshKey, context: PageContext): Html {
  if (fresh.scopes === "policy") return freshKeyCard(fresh, policyKeyLines(context));
  return freshKeyCard(
    fresh,
    html`<p class="faint">
        On the machine of a runtime: run these lines, then paste the key. It does not show, and
        stays out of the history of the shell. A service reads the same names from a file with mode
        600.
      </p>
      ${shellLines(runtimeLines(context, true))}
      <p class="faint">A first heartbeat from the same shell, after which the fleet shows it:</p>
      ${shellLines(firstHeartbeat("build-1"))}`,
  );
}

/** A key of this scope cannot report, so a first heartbeat would be refused. */
function policyKeyLines(context: PageContext): Html {
  return html`<p class="faint">
      For <code>signalbox policy</code>: run these lines, then paste the key. It does not show, and
      stays out of the history of the shell. A pipeline reads the same names from its secrets.
    </p>
    ${shellLines(policyLines(context))}
    <p class="faint">In the same shell, this prints the active policy:</p>
    ${shellLines("signalbox policy pull")}`;
}

/** Renders a key that was just created, above the lines that need it. */
export function freshKeyCard({ name, api_key: text, warning }: FreshKey, lines: Html): Html {
  return html`<section
    class="card fresh"
    id="fresh-key"
    aria-labelledby="fresh-title"
    tabindex="-1"
  >
    <header>
      <h2 id="fresh-title">The key for ${name}</h2>
      <button type="button" data-dismiss>Done</button>
    </header>
    <div class="inside">
      <p class="warning">${warning}.</p>
      <div class="shell secret">
        <pre tabindex="0" aria-label="API key"><code>${text}</code></pre>
        <button type="button" data-copy>Copy</button>
      </div>
      ${lines}
    </div>
  </section>`;
}

function noKeys(model: KeysModel): Html {
  if (!isAllowed(model, "POST /api-keys"))
    return emptyState("No API keys yet", "A runtime sends one with every request.");
  return emptyState(
    "No API keys yet",
    "A runtime sends one with every request. To create one from a shell:",
    apiRequest(model, "person", "POST /api-keys", { name: "build agents" }),
  );
}

function hasExpired({ expires_at: end }: ApiKey, now: number): boolean {
  return end !== undefined && Date.parse(end) <= now;
}

function state(key: ApiKey, now: number): Html {
  if (key.revoked) return badge("revoked", "none");
  return hasExpired(key, now) ? badge("expired", "none") : badge("active", "ok");
}

function scopeCell(scopes: string): Html {
  if (isKeyScope(scopes)) return html`${scopes}`;
  return html`${scopes}<span class="under">limits nothing, acts as runtime</span>`;
}

function row(key: ApiKey, model: KeysModel): Html {
  const { id, name, prefix, revoked } = key;
  const { now } = model;
  return html`<tr>
    <th scope="row">${name}</th>
    <td>${state(key, now)}</td>
    <td data-label="Scope">${scopeCell(key.scopes)}</td>
    <td class="mono" data-label="Begins with">${prefix}…</td>
    <td data-label="Created">${timeAgo(key.created_at, now)}</td>
    <td data-label="Expires">${timeOrNever(key.expires_at, now)}</td>
    <td data-label="Last used">${timeOrNever(key.last_used_at, now)}</td>
    <td class="actions">
      ${
        revoked || !isAllowed(model, "DELETE /api-keys/{id}")
          ? undefined
          : rowButton("revoke", id, "Revoke", name)
      }
    </td>
  </tr>`;
}
