/**
 * Makes what is shown equal to a markup while touching only what differs, so that focus, selection,
 * scroll positions and opened details stay with the nodes that stay.
 */
import type { Html } from "../html.ts";
import { parsed } from "./markup.ts";

/** Makes the content of an element that of a template. */
export function morph(target: Element, markup: Html): void {
  morphChildren(target, parsed(markup));
}

/** Makes an element, with its attributes, that of a template, or one that belongs nowhere yet. */
export function morphElement(old: Element, fresh: Html | Element): void {
  const wanted = fresh instanceof Element ? fresh : parsed(fresh).firstElementChild;
  if (wanted) morphNode(old, wanted);
}

function morphChildren(target: Node, wanted: Node): void {
  let old = target.firstChild;
  const named = new Map<string, Element>();
  for (let node = old; node; node = node.nextSibling) {
    if (node instanceof Element && node.id !== "" && !named.has(node.id)) named.set(node.id, node);
  }
  for (const fresh of [...wanted.childNodes]) {
    const match = matchFor(fresh, old, named);
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
function matchFor(
  fresh: Node,
  old: ChildNode | null,
  named: Map<string, Element>,
): ChildNode | undefined {
  if (fresh instanceof Element && fresh.id !== "") {
    const match = named.get(fresh.id);
    named.delete(fresh.id); // of nodes that share an id by mistake, the next ones are others
    return match?.nodeName === fresh.nodeName ? match : undefined;
  }
  if (old?.nodeName !== fresh.nodeName) return undefined;
  return old instanceof Element && old.id !== "" ? undefined : old;
}

function morphNode(old: Node, fresh: Node): void {
  if (!(old instanceof Element) || !(fresh instanceof Element)) {
    if (old.nodeValue !== fresh.nodeValue) old.nodeValue = fresh.nodeValue;
    return;
  }
  // The same row again is what most of a list is, and what `data-keep` says is not known yet.
  if (old.id !== "" && (fresh.hasAttribute("data-keep") || old.isEqualNode(fresh))) return;
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
