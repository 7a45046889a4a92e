/**
 * The only place where text becomes nodes. Pages are served with `require-trusted-types-for 'script'`:
 * the browser refuses it everywhere else, so that a forgotten `innerHTML` cannot let foreign markup in.
 */
import type { Html } from "../html.ts";

interface MarkupPolicy {
  createHTML(markup: string): string;
}

declare global {
  interface Window {
    /** Absent in browsers without trusted types, which accept plain text. */
    readonly trustedTypes?: {
      createPolicy(name: "signalbox", rules: MarkupPolicy): MarkupPolicy;
    };
  }
}

const rules: MarkupPolicy = { createHTML: (markup) => markup };
const policy = window.trustedTypes?.createPolicy("signalbox", rules) ?? rules;

/** The nodes of a markup. Takes only `Html`, in which every value is escaped. */
export function parsed(markup: Html): DocumentFragment {
  const template = document.createElement("template");
  template.innerHTML = policy.createHTML(markup.toString());
  return template.content;
}
