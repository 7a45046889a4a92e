import { shellQuoted } from "../core/quoted-word.ts";

/** A request that is shown as a shell line. */
export interface ShownRequest {
  readonly method: string;
  readonly url: string;
  readonly headers?: readonly string[];
  readonly body?: unknown;
}

/** Writes a request as a `curl` command; every value is quoted for the shell. */
export function curlLine({ method, url, headers = [], body }: ShownRequest): string {
  const lines = [`curl ${method === "GET" ? "" : `-X ${method} `}${shellQuoted(url)}`];
  for (const header of headers) lines.push(`-H ${shellQuoted(header)}`);
  if (body !== undefined) {
    lines.push(
      `-H ${shellQuoted("Content-Type: application/json")}`,
      `-d ${shellQuoted(JSON.stringify(body))}`,
    );
  }
  return lines.join(" \\\n  ");
}
