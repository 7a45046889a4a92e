/** Has the browser save the answer of an address; `name` replaces the name that the server gives. */
export function download(href: string, name = ""): void {
  const link = document.createElement("a");
  link.href = href;
  link.download = name;
  link.click();
}

/** Has the browser save a text as a file. */
export function saveText(text: string, name: string, type: string): void {
  const href = URL.createObjectURL(new Blob([text], { type }));
  download(href, name);
  URL.revokeObjectURL(href);
}
