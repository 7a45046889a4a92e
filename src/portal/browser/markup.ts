/**
 * The only place where text becomes nodes. Pages are served with `require-trusted-types-for 'script'`:
 * elsewhere the browser refuses it, so that no forgotten `innerHTML` can let foreign markup in.
 */
import type { Html } from "../html.ts";

interface MarkupPolicy {
  createHTML(markup: string): string;
}

declare global {
  interface Window {
    /** Absent in browsers that do not know trusted types yet; they take the text as it is. */
    readonly trustedTypes?: {
      createPolicy(name: "signalbox", rules: MarkupPolicy): MarkupPolicy;
    };
  }
}

const rules: MarkupPolicy = { createHTML: (markup) => markup };
const policy = window.trustedTypes?.createPolicy("signalbox", rules) ?? rules;

/** What a markup describes; only `Html` is taken, in which every value is escaped. */
export function parsed(markup: Html): DocumentFragment {
  const template = document.createElement("template");
  template.innerHTML = policy.createHTML(markup.toString());
  return template.content;
}
