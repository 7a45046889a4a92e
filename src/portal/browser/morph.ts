/**
 * Makes what is shown equal to a markup while touching only what differs, so that focus, selection,
 * scroll positions and opened details stay with the nodes that stay.
 */
import type { Html } from "../html.ts";

/** Makes the content of an element that of a template. */
export function morph(target: Element, markup: Html): void {
  const template = document.createElement("template");
  template.innerHTML = markup.toString();
  morphChildren(target, template.content);
}

function morphChildren(target: Node, wanted: Node): void {
  let old = target.firstChild;
  for (const fresh of [...wanted.childNodes]) {
    const match = matchFor(fresh, old);
    if (match === undefined) {
      target.insertBefore(fresh, old);
      continue;
    }
    // A node that was found further on comes here; what it passes is judged in its turn.
    if (match === old) old = old.nextSibling;
    else target.insertBefore(match, old);
    morphNode(match, fresh);
  }
  while (old) {
    const next = old.nextSibling;
    old.remove();
    old = next;
  }
}

/** The old node that becomes a new one: of the same id wherever it is, else the one in its place. */
function matchFor(fresh: Node, old: ChildNode | null): ChildNode | undefined {
  if (fresh instanceof Element && fresh.id !== "") {
    for (let node = old; node; node = node.nextSibling) {
      if (node instanceof Element && node.id === fresh.id && node.nodeName === fresh.nodeName) {
        return node;
      }
    }
    return undefined;
  }
  if (old?.nodeName !== fresh.nodeName) return undefined;
  return old instanceof Element && old.id !== "" ? undefined : old;
}

function morphNode(old: Node, fresh: Node): void {
  if (!(old instanceof Element) || !(fresh instanceof Element)) {
    if (old.nodeValue !== fresh.nodeValue) old.nodeValue = fresh.nodeValue;
    return;
  }
  for (const { name } of [...old.attributes]) {
    if (!fresh.hasAttribute(name) && !isReaders(old, name)) old.removeAttribute(name);
  }
  for (const { name, value } of fresh.attributes) {
    if (old.getAttribute(name) !== value && !isReaders(old, name)) old.setAttribute(name, value);
  }
  morphChildren(old, fresh);
}

/** Whether an attribute says what the reader did: opened something. */
function isReaders(element: Element, name: string): boolean {
  return name === "open" && (element.nodeName === "DETAILS" || element.nodeName === "DIALOG");
}
