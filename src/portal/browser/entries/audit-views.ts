/**
 * The menu of saved views: opens, saves and deletes them. It is loaded when it is opened first, so that the audit
 * page stays light. The page's own module passes in the parts that only one module of a page may have.
 */
import { html, type Html } from "../../html.ts";
import { deleteView, LONGEST_NAME, savedViews, saveView } from "../saved-views.ts";

/** The parts of the page's module that the menu uses. */
export interface ViewTools {
  readonly parsed: (markup: Html) => DocumentFragment;
  readonly toast: (text: string) => void;
  /** The address of the view that is shown, without an event. */
  readonly hrefOf: () => string;
  /** The title of that view. */
  readonly titleOf: () => string;
}

/** Serves the menu from now on, and shows its content; the caller does so once. */
export function serveViews(menu: HTMLElement, { parsed, toast, hrefOf, titleOf }: ViewTools): void {
  const card = menu.querySelector(".card");
  const show = (): void => card?.replaceChildren(parsed(content(hrefOf(), titleOf())));
  const showAgain = (): void => {
    show();
    menu.querySelector("input")?.focus();
  };
  // Not at "toggle", which comes after the menu has opened: a text that was typed at once would be replaced.
  menu.querySelector("summary")?.addEventListener("click", show);
  menu.addEventListener("submit", (event) => {
    event.preventDefault();
    const name = menu.querySelector("input")?.value.trim() ?? "";
    if (name === "") return;
    const isSaved = saveView({ name, href: hrefOf() });
    toast(isSaved ? `Saved as “${name}”` : "There is no room for another view: delete one first");
    showAgain();
  });
  menu.addEventListener("click", ({ target }) => {
    const button = target instanceof Element ? target.closest("[data-delete-view]") : null;
    if (!button) return;
    deleteView(button.getAttribute("data-delete-view") ?? "");
    showAgain();
  });
  show();
}

function content(current: string, title: string): Html {
  const views = savedViews();
  const name = title.split(" · ").slice(1).join(" · ").slice(0, LONGEST_NAME);
  return html`${
      views.length === 0
        ? html`<p class="faint">No saved views yet</p>`
        : html`<ul>
            ${views.map(
              (one) =>
                html`<li>
                  <a
                    href="${one.href}"
                    ${one.href === current ? html`aria-current="true"` : undefined}
                    >${one.name}</a
                  >
                  <button
                    type="button"
                    class="quiet"
                    data-delete-view="${one.name}"
                    aria-label="Delete ${one.name}"
                  >
                    ×
                  </button>
                </li>`,
            )}
          </ul>`
    }
    <form>
      <label for="view-name">Save this view as</label>
      <div>
        <input
          id="view-name"
          name="name"
          value="${name}"
          maxlength="${LONGEST_NAME}"
          required
          autocomplete="off"
        />
        <button type="submit">Save</button>
      </div>
    </form>
    <p class="faint small">Kept in this browser alone. “Copy link” shares a view.</p>`;
}
