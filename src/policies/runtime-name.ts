import { isUtf8 } from "node:buffer";

/**
 * The name in an `X-Runtime-Name` header, without the white space around it; empty if there is none. Node reads the bytes
 * of headers as Latin-1; a name is UTF-8, and Latin-1 only if it cannot be UTF-8.
 */
export function runtimeNameOf(header: string | undefined): string {
  const name = header?.trim() ?? "";
  if (!/[\u0080-\u00ff]/.test(name)) return name;
  const bytes = Buffer.from(name, "latin1");
  return isUtf8(bytes) ? bytes.toString("utf8") : name;
}
