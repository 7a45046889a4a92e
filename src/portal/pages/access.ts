import { ACCESS_PATH, ACCESS_TABS, type AccessTab } from "../access-tabs.ts";
import { count } from "../format.ts";
import { html, type Html } from "../html.ts";
import { ACTIONS, table, type PageContext } from "./parts.ts";

/** The parts that the pages of Access share; a page renders its body below the heading and the tabs. */
export function accessPage<Model extends PageContext>(
  tab: AccessTab,
  renderBody: (model: Model) => Html,
) {
  const title = ACCESS_TABS.find((one) => one.tab === tab)?.label ?? "";
  const module = `access-${tab}`;
  const render = (model: Model): Html => frame(tab, model, renderBody(model));
  return { path: ACCESS_PATH, title, module, parameters: {}, isManagement: true, render } as const;
}

function frame(current: AccessTab, { needsCredential }: PageContext, body: Html): Html {
  const links = ACCESS_TABS.map(({ tab, label }) => {
    const mark = tab === current ? html` aria-current="page"` : undefined;
    return html`<a href="${ACCESS_PATH}/${tab}" ${mark}>${label}</a>`;
  });
  return html`<div class="page-head"><h1>Access</h1></div>
    <nav class="tabs" aria-label="Access">${links}</nav>
    ${needsCredential ? undefined : openNotice()} ${body}`;
}

function openNotice(): Html {
  return html`<p class="notice warn">
    This service asks for no credentials: anyone who reaches it may change this page. Start it with
    <code>REQUIRE_AUTH=true</code> to ask for them.
  </p>`;
}

/** A form that adds a record. It works only with modules. */
export interface AddForm {
  /** The value of `data-add`, by which the module finds the form. */
  readonly name: string;
  readonly title: string;
  readonly fields: Html;
  readonly button: string;
  /** More buttons beside the one that sends the form. */
  readonly buttons?: Html;
  readonly hint?: Html;
}

/** Renders such a form as a card. */
export function addForm({ name, title, fields, button, buttons, hint }: AddForm): Html {
  return html`<form
    class="card add needs-modules"
    method="post"
    data-add="${name}"
    aria-labelledby="add-${name}"
  >
    <header><h2 id="add-${name}">${title}</h2></header>
    <div class="inside">
      ${hint}
      <div class="fields">
        ${fields}
        <div class="submit">
          <button type="submit" class="primary">${button}</button> ${buttons}
        </div>
      </div>
      <p class="error" role="alert"></p>
    </div>
  </form>`;
}

/** The most rows that a list shows. */
export const MOST_ROWS = 500;

/** Renders the beginning of a list as a table, whose last column has the actions of a row. */
export function accessTable<T>(
  headings: readonly string[],
  items: readonly T[],
  row: (item: T) => Html,
  mostRows = MOST_ROWS,
): Html {
  const more = items.length - mostRows;
  const rows = items.slice(0, mostRows).map(row);
  return html`${table(undefined, "rows access stacked", [...headings, ACTIONS], rows)}
  ${more > 0 ? html`<p class="inside faint">${count(more)} more are listed by the API.</p>` : undefined}`;
}

/** A button in a row. The module finds it by `data-<action>`; `name` is the name of the row for screen readers. */
export function rowButton(action: string, id: string, word: string, name: string): Html {
  return html`<button type="button" class="needs-modules" data-${action}="${id}">
    ${word}<span class="visually-hidden"> ${name}</span>
  </button>`;
}
