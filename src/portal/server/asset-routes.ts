import { NotFound } from "../../core/errors.ts";
import { string } from "../../core/schema-parts.ts";
import { route } from "../../http/route.ts";
import type { PortalAssets } from "./assets.ts";

/** The services that the row of files uses. */
export interface AssetNeeds {
  readonly assets: PortalAssets;
}

/** The route of the scripts, the stylesheet and the icon. */
export const assetRoutes = [
  route({
    method: "GET",
    path: "/portal/assets/{hash}/{file}",
    surfaces: ["portal"],
    access: "open",
    tags: ["portal"],
    summary: "Read a file of the portal",
    description: "A script, style sheet or icon. The content of an address never changes.",
    params: {
      hash: string("A hash of all files of the portal.", {
        ruled: { minLength: 1 },
        examples: ["0f3c9d5b1e7a"],
      }),
      file: string("The name of the file.", { ruled: { minLength: 1 }, examples: ["frame.css"] }),
    },
    headers: {
      "accept-encoding": string("The accepted content codings."),
      "if-none-match": string("The entity tags of the client's copies."),
    },
    replyHeaders: {
      ETag: "A strong entity tag of the response.",
      "Cross-Origin-Resource-Policy": "Always `same-origin`.",
    },
    replies: {
      200: ["text/javascript", "text/css", "image/svg+xml"],
      304: ["text/javascript", "text/css", "image/svg+xml"],
    },
    refuses: [404],
    handle({ params: { hash, file }, headers }, { assets }: AssetNeeds) {
      const reply = assets.send(`/portal/assets/${hash}/${file}`, headers);
      if (!reply) throw new NotFound("No such file is part of this build: load the page again");
      return reply;
    },
  }),
];
