import type { PageContext } from "./parts.ts";

/** The variable that programs of Signalbox read an API key from. */
const KEY = "SIGNALBOX_API_KEY";
const READ_KEY = `read -rs ${KEY} && export ${KEY}`;

/**
 * The lines for a shell that connect a runtime. The key is not in them: the last line waits for it, and does
 * not show it, so that it stays out of the history of the shell.
 */
export function runtimeLines(context: PageContext, hasKey = context.needsCredential): string {
  const { apiUrl } = context;
  const [, base = apiUrl, prefix = ""] = /^(.*?)(\/api\/\w+)$/.exec(apiUrl) ?? [];
  const lines = [
    "export RUNTIME_PORTAL_ENABLED='true'",
    `export RUNTIME_PORTAL_BASE_URL='${base}'`,
    `export RUNTIME_PORTAL_PATH_PREFIX='${prefix}'`,
  ];
  if (hasKey) lines.push(READ_KEY);
  return lines.join("\n");
}

/** The lines for a shell that connect the commands of `signalbox policy`; the last one waits for the key. */
export function policyLines({ apiUrl }: PageContext): string {
  return `export SIGNALBOX_URL='${apiUrl}'\n${READ_KEY}`;
}

/** The line for the same shell that sends the first heartbeat of a runtime. */
export function firstHeartbeat(name: string): string {
  return `curl -X POST "$RUNTIME_PORTAL_BASE_URL$RUNTIME_PORTAL_PATH_PREFIX/fleet/heartbeat" \\
  -H "X-API-Key: $${KEY}" \\
  -H 'Content-Type: application/json' \\
  -d '{"name":"${name}"}'`;
}
