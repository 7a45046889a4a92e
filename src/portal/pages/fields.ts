import { html, type Html, type HtmlValue } from "../html.ts";

/** A field of a form. */
export interface Field {
  readonly id: string;
  readonly name: string;
  readonly label: string;
  readonly type?: "text" | "email" | "password" | "number";
  readonly value?: string | undefined;
  readonly placeholder?: string;
  readonly hint?: string;
  readonly isOptional?: boolean;
  readonly autocomplete?: string;
  readonly maxLength?: number;
}

/** Renders a field with its label above it. */
export function textField(field: Field): Html {
  const { id, name, label, type = "text", value, placeholder, hint, isOptional } = field;
  const required = isOptional ? undefined : html` required`;
  const length = field.maxLength && html` maxlength="${field.maxLength}"`;
  const described = hint && html` aria-describedby="${id}-hint"`;
  return html`<div class="field">
    <label for="${id}">${label}</label>
    <input
      id="${id}"
      name="${name}"
      type="${type}"
      value="${value}"
      placeholder="${placeholder}"
      autocomplete="${field.autocomplete ?? "off"}"
      ${required}
      ${length}
      ${described}
    />
    ${hint && html`<p class="hint" id="${id}-hint">${hint}</p>`}
  </div>`;
}

/** The field for a new password. */
export function newPasswordField(id: string, name: string, label: string): Html {
  return textField({
    id,
    name,
    label,
    type: "password",
    hint: "10 to 256 characters",
    autocomplete: "new-password",
  });
}

/** A choice of a form. */
export interface Choice {
  readonly id: string;
  readonly name?: string;
  readonly label: string;
  readonly options: HtmlValue;
  readonly hint?: HtmlValue;
}

/** Renders a choice with its label above it. */
export function choice({ id, name = id, label, options, hint }: Choice): Html {
  const described = hint && html` aria-describedby="${id}-hint"`;
  return html`<div class="field">
    <label for="${id}">${label}</label>
    <select id="${id}" name="${name}" ${described}>
      ${options}
    </select>
    ${hint && html`<div class="hint" id="${id}-hint">${hint}</div>`}
  </div>`;
}

/** Renders an option of a choice; the one that equals `chosen` is selected. */
export function option(value: string, label: string, chosen = ""): Html {
  const mark = value === chosen ? html` selected` : undefined;
  return html`<option value="${value}" ${mark}>${label}</option>`;
}

/** Keeps a parameter of the address that has no field of its own; nothing without a value. */
export function hiddenField(name: string, value: string | undefined): Html | undefined {
  return value === undefined
    ? undefined
    : html`<input type="hidden" name="${name}" value="${value}" />`;
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
