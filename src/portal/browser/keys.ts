import { html } from "../html.ts";
import { isAllowed } from "../withheld.ts";
import type * as PaletteModule from "./entries/palette.ts";
import { read } from "./api.ts";
import { serviceNow } from "./clock.ts";
import { openDialog } from "./dialog.ts";
import { parsed } from "./markup.ts";
import { withheldHere } from "./role.ts";
import { toast } from "./toast.ts";

const SEQUENCE_MS = 1_500;

/** A keyboard shortcut of a page. */
export interface Shortcut {
  /** The value of `KeyboardEvent.key`. */
  readonly key: string;
  /** The description in the list of shortcuts. */
  readonly does: string;
  readonly run: () => void;
}

const ofPage: Shortcut[] = [];

/** Adds shortcuts to this page. */
export function addShortcuts(shortcuts: readonly Shortcut[]): void {
  ofPage.push(...shortcuts);
}

/** Whether a key belongs to the focused field, to a dialog or to the browser. */
function isTaken(event: KeyboardEvent): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return true;
  if (document.querySelector("dialog[open]")) return true;
  const { target } = event;
  return target instanceof Element && target.matches("input, textarea, select, [contenteditable]");
}

/** Serves the shortcuts: `g` and a letter for a page, `/` for its search, `?` for the list of them. */
export function serveKeys(): void {
  let startedAt = Number.NEGATIVE_INFINITY;
  document.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key === "k") {
      event.preventDefault();
      openPalette();
    }
    if (isTaken(event)) return;
    const isSecond = performance.now() - startedAt < SEQUENCE_MS;
    startedAt = Number.NEGATIVE_INFINITY;
    if (isSecond) {
      const link = document.querySelector(`nav [data-key="${CSS.escape(event.key)}"]`);
      if (link instanceof HTMLElement) link.click();
    } else if (event.key === "g") startedAt = performance.now();
    else if (event.key === "?") showKeys();
    else if (event.key === "/") {
      const search = document.querySelector("#content [data-search]");
      if (!(search instanceof HTMLElement)) return;
      event.preventDefault();
      search.focus();
    } else ofPage.find(({ key }) => key === event.key)?.run();
  });
  document.getElementById("keys")?.addEventListener("click", showKeys);
}

/**
 * Opens the palette; not above another dialog, nor on pages without navigation. Its module is loaded then, and takes what
 * was typed meanwhile: the next key already belongs to the palette.
 */
function openPalette(): void {
  if (document.querySelector("dialog[open], body.bare")) return;
  const dialog = openDialog(
    html`<h2 id="dialog-title">Go to</h2>
      <input
        type="text"
        id="palette-box"
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-labelledby="dialog-title"
        placeholder="A page, view, version, runtime or person"
        autocomplete="off"
        spellcheck="false"
      />
      <ul class="palette" id="palette-list" role="listbox" aria-labelledby="dialog-title"></ul>
      <p class="faint small" role="status"></p>`,
  );
  const address = new URL("./palette.js", import.meta.url).href;
  import(address).then(
    ({ servePalette }: typeof PaletteModule) =>
      servePalette(dialog, {
        ...{ parsed, read, now: serviceNow },
        mayPublish: isAllowed({ withheld: withheldHere() }, "POST /policies"),
      }),
    () => {
      dialog.close();
      toast("The palette could not be loaded");
    },
  );
}

function showKeys(): void {
  const pages = [...document.querySelectorAll<HTMLElement>("nav [data-key]")];
  openDialog(
    html`<h2 id="dialog-title">Keyboard</h2>
      <dl class="keys">
        <dt><kbd>/</kbd></dt>
        <dd>Search on this page</dd>
        <dt><kbd>Ctrl</kbd> <kbd>K</kbd></dt>
        <dd>Go to a page, view, version, runtime or person</dd>
        <dt><kbd>?</kbd></dt>
        <dd>This list</dd>
        ${ofPage.map(
          ({ key, does }) =>
            html`<dt><kbd>${key}</kbd></dt>
              <dd>${does}</dd>`,
        )}
        ${pages.map(
          ({ dataset, textContent }) =>
            html`<dt><kbd>g</kbd> <kbd>${dataset["key"]}</kbd></dt>
              <dd>${textContent ?? undefined}</dd>`,
        )}
      </dl>
      <form method="dialog" class="buttons"><button>Close</button></form>`,
  );
}
