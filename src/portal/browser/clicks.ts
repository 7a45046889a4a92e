/** Whether a click asks for another tab, another window or a download, which the browser does itself. */
export function isModified(event: MouseEvent): boolean {
  return event.ctrlKey || event.metaKey || event.shiftKey || event.altKey;
}
