/** A request that is shown as a shell line. */
export interface ShownRequest {
  readonly method: string;
  readonly url: string;
  readonly headers?: readonly string[];
  readonly body?: unknown;
}

/** Writes a request as a `curl` command; every value is quoted for the shell. */
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

/** Quotes a text for a POSIX shell: between single quotes only the quote itself is special. */
function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
