/**
 * Makes the shown nodes equal to a markup and touches only those that differ, so that focus, selection,
 * scroll positions and open details are kept.
 */
import type { Html } from "../html.ts";
import { parsed } from "./markup.ts";

/** Replaces the content of an element by a markup. */
export function morph(target: Element, markup: Html): void {
  morphChildren(target, parsed(markup));
}

/** Replaces an element and its attributes by a markup, or by a detached element. */
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
    // A match further on moves here; the nodes that it passes are compared later.
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

/** The old node that becomes the new one: the one with the same id, else the one at the same place. */
function matchFor(
  fresh: Node,
  old: ChildNode | null,
  named: Map<string, Element>,
): ChildNode | undefined {
  if (fresh instanceof Element && fresh.id !== "") {
    const match = named.get(fresh.id);
    named.delete(fresh.id); // ids should be unique; a second node with the same id gets no match
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
  // Most rows of a list are unchanged. `data-keep` marks content that is not known yet.
  if (old.id !== "" && (fresh.hasAttribute("data-keep") || old.isEqualNode(fresh))) return;
  for (const { name } of [...old.attributes]) {
    if (!fresh.hasAttribute(name) && !isReaders(old, name)) old.removeAttribute(name);
  }
  for (const { name, value } of fresh.attributes) {
    if (old.getAttribute(name) !== value && !isReaders(old, name)) old.setAttribute(name, value);
  }
  morphChildren(old, fresh);
}

/** Whether the reader sets an attribute, by opening something: also a form, whose time fields then become pickers. */
function isReaders(element: Element, name: string): boolean {
  if (name === "type" && element.getAttribute("type") === "datetime-local") return true;
  return name === "open" && (element.nodeName === "DETAILS" || element.nodeName === "DIALOG");
}
