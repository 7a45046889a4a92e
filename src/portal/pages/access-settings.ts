import type { Setting, Settings } from "../../settings/schema.ts";
import { count, exactly } from "../format.ts";
import { html, type Html } from "../html.ts";
import { accessFrame, addForm, textField } from "./access.ts";
import { credentialHeaders, emptyState, type PageContext } from "./parts.ts";

/** What the page of the settings shows. */
export interface SettingsModel extends PageContext {
  readonly answer: Settings;
}

/** The key-value pairs of the organization, and what the deployment is set to. */
export function settingsPage(model: SettingsModel): Html {
  const { settings } = model.answer;
  return accessFrame(
    "settings",
    model,
    html`${addForm({
        name: "setting",
        title: "Set a value",
        fields: html`${textField({ id: "setting-key", name: "key", label: "Key", placeholder: "support.contact", maxLength: 128 })}
          <div class="field">
            <label for="setting-value">Value</label>
            <textarea id="setting-value" name="value" rows="1"></textarea>
          </div>`,
        button: "Save",
      })}
      <section class="card" aria-labelledby="settings-list">
        <header>
          <h2 id="settings-list">Settings</h2>
          <span class="faint small">Kept for whoever reads them; the service acts on none</span>
        </header>
        ${settings.length === 0 ? noSettings(model) : table(settings)}
      </section>
      ${deployment(model.answer)}`,
  );
}

function noSettings(model: SettingsModel): Html {
  return emptyState("No settings yet", "All pairs at once are set from a shell:", {
    method: "PUT",
    url: `${model.apiUrl}/settings`,
    headers: credentialHeaders(model, "person"),
    body: { settings: [{ key: "support.contact", value: "ops@example.com" }] },
  });
}

function table(settings: readonly Setting[]): Html {
  return html`<div class="scroll">
    <table class="rows access">
      <thead>
        <tr>
          <th scope="col">Key</th>
          <th scope="col">Value</th>
          <th scope="col"><span class="visually-hidden">Actions</span></th>
        </tr>
      </thead>
      <tbody>
        ${settings.map(
          ({ key, value }) =>
            html`<tr>
              <th scope="row" class="mono">${key}</th>
              <td class="value">
                ${value === "" ? html`<span class="faint">empty</span>` : value}
              </td>
              <td class="actions">
                <span class="needs-modules">
                  <button type="button" data-change="${key}">
                    Change<span class="visually-hidden"> ${key}</span>
                  </button>
                  <button type="button" data-remove="${key}">
                    Remove<span class="visually-hidden"> ${key}</span>
                  </button>
                </span>
              </td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

function deployment({ edition, organization_id: id, auth, audit }: Settings): Html {
  const hours = auth["token_lifetime_hours"];
  return html`<section class="card" aria-labelledby="deployment">
    <header><h2 id="deployment">This deployment</h2></header>
    <dl class="facts inside">
      <dt>Organization</dt>
      <dd class="mono">${id}</dd>
      <dt>Edition</dt>
      <dd>${edition}</dd>
      <dt>Credentials</dt>
      <dd>
        ${auth["require_auth"] === true ? "demanded" : "not demanded"}${typeof hours === "number" ? `; a sign-in lasts ${hours} h` : undefined}
      </dd>
      <dt>Audit events</dt>
      <dd>
        ${count(audit.events)},
        ${bytes(audit.bytes)}${audit.oldest === undefined ? undefined : html`, the oldest of ${exactly(audit.oldest)}`}
      </dd>
    </dl>
  </section>`;
}

function bytes(number: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let value = number;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`;
}
