/** Filters the API reference while the reader types, and opens the operation that the address names. */
import "../frame.ts";

const search = document.getElementById("q");
const found = document.getElementById("found");
const operations = [...document.querySelectorAll<HTMLDetailsElement>(".reference details[id]")];
const groups = [...document.querySelectorAll<HTMLElement>(".reference section[data-group]")];

/** The searched text of an operation: its group, method, paths, credentials and summary. */
function wordsOf(operation: Element): string {
  const group = operation.closest("[data-group]")?.querySelector("h2");
  const parts = [group, ...operation.querySelectorAll("summary, [data-paths]")];
  return parts.map((part) => part?.textContent.toLowerCase()).join(" ");
}

function narrow(text: string): void {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  for (const operation of operations) {
    operation.hidden = !words.every((word) => wordsOf(operation).includes(word));
  }
  for (const group of groups) {
    group.hidden = group.querySelector("details[id]:not([hidden])") === null;
  }
  const shown = operations.filter(({ hidden }) => !hidden).length;
  const all = `${operations.length} operations`;
  if (found) found.textContent = words.length === 0 ? all : `${shown} of ${all}`;
}

function openNamed(): void {
  const named = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!(named instanceof HTMLDetailsElement)) return;
  named.open = true;
  named.scrollIntoView();
}

if (search instanceof HTMLInputElement) {
  search.addEventListener("input", () => narrow(search.value));
  if (search.value !== "") narrow(search.value); // browsers restore the field after a reload
}
window.addEventListener("hashchange", openNamed);
openNamed();
