import { contentElement } from "./live.ts";

/** Whether a click asks for another tab, another window or a download, which the browser does itself. */
export function isModified(event: MouseEvent): boolean {
  return event.ctrlKey || event.metaKey || event.shiftKey || event.altKey;
}

/** Follows the links that a selector names by `follow`, except for modified clicks. */
export function serveLinks(selector: string, follow: (href: string) => void): void {
  contentElement().addEventListener("click", (event) => {
    const target = event.target instanceof Element ? event.target : undefined;
    const link = target?.closest<HTMLAnchorElement>(selector);
    if (!link || isModified(event)) return;
    event.preventDefault();
    follow(link.pathname + link.search);
  });
}
