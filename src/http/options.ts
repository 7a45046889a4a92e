import { preflightHeaders } from "./cors.ts";
import type { HeaderList } from "./reply.ts";
import { EVERY_METHOD, type Router } from "./router.ts";

/**
 * The headers of the response to OPTIONS: the path's methods, or those of the server for `*`.
 *
 * @param isPreflight whether this is a preflight from an allowed origin. It is answered for unknown paths too:
 *   after a refused preflight the browser would hide the 404 from its page
 * @throws NotFound, or BadInput for an invalid percent-encoding
 */
export function optionsHeaders(
  router: Router<never>,
  path: string,
  isPreflight: boolean,
): HeaderList {
  try {
    const allow = path === "*" ? EVERY_METHOD : router.allowed(path);
    return ["Allow", allow, ...(isPreflight ? preflightHeaders(allow) : [])];
  } catch (error) {
    if (isPreflight) return preflightHeaders(EVERY_METHOD);
    throw error;
  }
}
