/** The keys of the policy editor: Tab and Enter keep the indent, and words are completed. */
import { html } from "../html.ts";
import { type CatalogWords, completionAt } from "./yaml-completion.ts";
import { parsed } from "./markup.ts";

const STEP = "  ";

/**
 * Serves the keys of a text area. Tab indents, and leaves the text after Escape. Ctrl+Space completes the word at
 * the caret, and so does typing.
 *
 * @param list shows the words that complete
 * @param readWords reads the words of the catalog; called on first use
 */
export function serveEditingKeys(
  area: HTMLTextAreaElement,
  list: HTMLElement,
  readWords: () => Promise<CatalogWords>,
): void {
  let catalog: CatalogWords = { providers: [], capabilities: [] };
  let reading: Promise<void> | undefined;
  let from = 0;
  let words: readonly string[] = [];
  let chosen = 0;
  /** Whether the open list was asked for, and so may begin without a letter. */
  let wasAsked = false;
  let mayLeave = false;

  const close = (): void => {
    words = [];
    wasAsked = false;
    list.hidden = true;
    area.removeAttribute("aria-activedescendant");
  };
  const render = (): void => {
    list.replaceChildren(
      parsed(
        html`${words.map(
          (word, i) =>
            html`<li
              role="option"
              id="word-${i}"
              data-word="${i}"
              aria-selected="${String(i === chosen)}"
            >
              ${word}
            </li>`,
        )}`,
      ),
    );
    list.hidden = false;
    area.setAttribute("aria-activedescendant", `word-${chosen}`);
    list.children[chosen]?.scrollIntoView({ block: "nearest" });
  };
  const complete = (isAsked: boolean): void => {
    const { selectionStart: caret, selectionEnd, value } = area;
    const found = caret === selectionEnd ? completionAt(value, caret, catalog) : undefined;
    if (!found || (!isAsked && found.from === caret)) return close();
    ({ from, words } = found);
    chosen = 0;
    const before = value.slice(0, from).split("\n");
    const style = getComputedStyle(area);
    const height = parseFloat(style.lineHeight);
    const top = before.length * height + parseFloat(style.paddingTop) - area.scrollTop;
    const room = area.clientHeight - top;
    list.style.left = `calc(${before.at(-1)?.length ?? 0}ch + 0.6rem - ${area.scrollLeft}px)`;
    list.style.top = room > 8 * height ? `${top}px` : "auto";
    list.style.bottom = room > 8 * height ? "auto" : `${area.clientHeight - top + height}px`;
    render();
  };
  const ask = (isAsked: boolean): void => {
    reading ??= readWords().then(
      (read) => {
        catalog = read;
        if (document.activeElement === area) complete(wasAsked);
      },
      () => (reading = undefined), // the words of the schema complete without it
    );
    complete(isAsked);
    wasAsked = isAsked;
  };
  const accept = (at: number): void => {
    const word = words[at];
    if (word === undefined) return;
    area.setSelectionRange(from, area.selectionStart);
    insert(area, word);
    close();
  };
  const onListKey = (key: string): boolean => {
    if (key === "Escape") close();
    else if (key === "Enter" || key === "Tab") accept(chosen);
    else if (key === "ArrowDown" || key === "ArrowUp") {
      chosen = (chosen + (key === "ArrowDown" ? 1 : words.length - 1)) % words.length;
      render();
    } else return false;
    return true;
  };
  const onKey = ({ key, shiftKey }: KeyboardEvent): boolean => {
    if (key === "Tab" && !mayLeave) indent(area, shiftKey);
    else if (key === "Enter") breakLine(area);
    else return false;
    return true;
  };

  area.addEventListener("keydown", (event) => {
    const { key, ctrlKey, metaKey, altKey, isComposing, shiftKey } = event;
    if (isComposing || altKey || metaKey) return;
    if (ctrlKey) {
      if (key !== " ") return;
      event.preventDefault();
      return ask(true);
    }
    const isOpen = words.length > 0;
    if ((isOpen && !shiftKey && onListKey(key)) || onKey(event)) event.preventDefault();
    mayLeave = key === "Escape" && !isOpen ? true : mayLeave && ["Shift", "Tab"].includes(key);
  });
  area.addEventListener("input", (event) => {
    const isTyped = event instanceof InputEvent && event.inputType === "insertText";
    if (isTyped && /[\w./*-]$/.test(event.data ?? "") && event.data?.length === 1) ask(false);
    else if (words.length > 0) complete(false);
  });
  for (const type of ["blur", "scroll", "click"]) area.addEventListener(type, close);
  list.addEventListener("pointerdown", (event) => {
    const { target } = event;
    const at = target instanceof HTMLElement ? target.dataset["word"] : undefined;
    event.preventDefault(); // the text keeps the focus
    if (at !== undefined) accept(Number(at));
  });
}

/** Indents the selected lines, or moves them back; without a selection inserts an indent at the caret. */
function indent(area: HTMLTextAreaElement, isBack: boolean): void {
  const { selectionStart: start, selectionEnd: end, value } = area;
  if (start === end && !isBack) return insert(area, STEP);
  const lineStart = value.lastIndexOf("\n", start - 1) + 1;
  const lines = value.slice(lineStart, end);
  const moved = isBack ? lines.replace(/^ {1,2}/gm, "") : lines.replace(/^(?=.)/gm, STEP);
  if (moved === lines) return;
  area.setSelectionRange(lineStart, end);
  insert(area, moved);
  const first = lines.length - lines.replace(/^ {1,2}/, "").length;
  if (start === end) area.setSelectionRange(start - first, start - first);
  else area.setSelectionRange(lineStart, lineStart + moved.length);
}

/** Breaks the line and keeps its indent; below a key without a value the next line is indented further. */
function breakLine(area: HTMLTextAreaElement): void {
  const { selectionStart: start, value } = area;
  const line = value.slice(value.lastIndexOf("\n", start - 1) + 1, start);
  const [own = ""] = /^ */.exec(line) ?? [];
  const [dashes = ""] = /^(?:- +)*/.exec(line.slice(own.length)) ?? [];
  const isContainer = /:\s*$/.test(line);
  const deeper = isContainer ? " ".repeat(dashes.length) + STEP : " ".repeat(dashes.length);
  insert(area, `\n${own}${deeper}`);
}

/** Replaces the selection as typing does, so that it can be undone. */
function insert(area: HTMLTextAreaElement, text: string): void {
  // The only way that keeps the browser's own undo.
  if (document.execCommand(text === "" ? "delete" : "insertText", false, text)) return;
  area.setRangeText(text, area.selectionStart, area.selectionEnd, "end");
  area.dispatchEvent(new InputEvent("input", { inputType: "insertReplacementText" }));
}
