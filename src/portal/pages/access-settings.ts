import type { Setting, Settings } from "../../settings/schema.ts";
import { count, exactly, shorten } from "../format.ts";
import { html, type Html } from "../html.ts";
import { textField } from "./fields.ts";
import { accessPage, accessTable, addForm, rowButton } from "./access.ts";
import { apiRequest, card, emptyState, facts, type PageContext } from "./parts.ts";
import type { DataPage } from "./source.ts";
import { allowedOrNote, ifAllowed, isAllowed } from "../withheld.ts";

/** The length of a value in the list; the form and the API show the whole value. */
const LONGEST_SHOWN = 300;

/** The model of the settings page. */
export interface SettingsModel extends PageContext {
  readonly answer: Settings;
  /** The number of pairs in the form; one when absent. */
  readonly pairs?: number;
}

/** The page of the organization's settings. */
export const organizationSettings: DataPage<SettingsModel> = {
  ...accessPage("settings", renderSettings),
  read: async (source, context) => ({ ...context, answer: await source.settings() }),
};

/** The id of the key field of a pair in the form; pairs are counted from 0. */
export function keyFieldId(number: number): string {
  return number === 0 ? "setting-key" : `setting-key-${number + 1}`;
}

/** The id of the value field of a pair in the form; pairs are counted from 0. */
export function valueFieldId(number: number): string {
  return number === 0 ? "setting-value" : `setting-value-${number + 1}`;
}

/** Renders the key-value pairs of the organization and the settings of the deployment. */
function renderSettings(model: SettingsModel): Html {
  const { answer, pairs = 1 } = model;
  const { settings } = answer;
  const form = addForm({
    name: "setting",
    title: pairs === 1 ? "Set a value" : `Set ${pairs} values`,
    fields: html`${Array.from({ length: pairs }, (_, number) => pairFields(number))}`,
    buttons: html`<button type="button" data-another="pair">Another pair</button>`,
    button: "Save",
  });
  const list =
    settings.length === 0
      ? noSettings(model)
      : accessTable(["Key", "Value"], settings, (pair) => row(pair, model), settings.length);
  const aside = html`<span class="faint small"
    >Stored for other programs. The service itself reads only those that begin with
    <code>audit.redact</code>: what it takes out of commands as a secret</span
  >`;
  return html`${allowedOrNote(model, "PUT /settings", "Changing settings", form)}
  ${card("settings-list", "Settings", list, aside)} ${deployment(answer)}`;
}

function pairFields(number: number): Html {
  const ordinal = number === 0 ? "" : ` ${number + 1}`;
  const id = valueFieldId(number);
  return html`<div class="pair">
    ${textField({ id: keyFieldId(number), name: "key", label: `Key${ordinal}`, placeholder: "support.contact", maxLength: 128, isOptional: number > 0 })}
    <div class="field">
      <label for="${id}">Value${ordinal}</label>
      <textarea id="${id}" name="value" rows="1"></textarea>
    </div>
  </div>`;
}

function noSettings(model: SettingsModel): Html {
  if (!isAllowed(model, "PUT /settings"))
    return emptyState("No settings yet", "Other programs read them here.");
  const body = { settings: [{ key: "support.contact", value: "ops@example.com" }] };
  const request = apiRequest(model, "person", "PUT /settings", body);
  return emptyState("No settings yet", "To set all pairs at once from a shell:", request);
}

function row({ key, value }: Setting, model: SettingsModel): Html {
  return html`<tr>
    <th scope="row" class="mono">${key}</th>
    <td>
      ${value === "" ? html`<span class="faint">empty</span>` : html`<span class="value">${shorten(value, LONGEST_SHOWN)}</span>`}
    </td>
    <td class="actions">
      ${ifAllowed(model, "PUT /settings", [
        rowButton("change", key, "Change", key),
        rowButton("remove", key, "Remove", key),
      ])}
    </td>
  </tr>`;
}

function deployment({ edition, organization_id: id, auth, audit }: Settings): Html {
  const hours = auth["token_lifetime_hours"];
  const credentials = auth["require_auth"] === true ? "required" : "not required";
  const lasting = typeof hours === "number" ? `; a sign-in lasts ${hours} h` : "";
  const oldest = audit.oldest === undefined ? "" : `, the oldest of ${exactly(audit.oldest)}`;
  const about = facts([
    ["Organization", html`<span class="mono">${id}</span>`],
    ["Edition", edition],
    ["Credentials", credentials + lasting],
    ["Audit events", `${count(audit.events)}, ${bytes(audit.bytes)}${oldest}`],
  ]);
  return card("deployment", "This deployment", about);
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
