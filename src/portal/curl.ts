/** What to call, as a shell line shows it. */
export interface ShownRequest {
  readonly method: string;
  readonly url: string;
  readonly headers?: readonly string[];
  readonly body?: unknown;
}

/** Writes a request as a `curl` command that a shell takes as it stands, whatever is in it. */
export function curlLine({ method, url, headers = [], body }: ShownRequest): string {
  const lines = [`curl ${method === "GET" ? "" : `-X ${method} `}${quote(url)}`];
  for (const header of headers) lines.push(`-H ${quote(header)}`);
  if (body !== undefined) {
    lines.push(
      `-H ${quote("Content-Type: application/json")}`,
      `-d ${quote(JSON.stringify(body))}`,
    );
  }
  return lines.join(" \\\n  ");
}

/** Quotes for a POSIX shell: nothing is special between single quotes but the quote itself. */
function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
