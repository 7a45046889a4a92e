import { NotFound } from "../core/errors.ts";
import { route } from "../http/route.ts";
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
    summary: "A file of the portal",
    description:
      "Scripts and styles. An address never changes its content, so it may be kept for good.",
    params: {
      hash: {
        type: "string",
        ruled: { minLength: 1 },
        description: "A hash of all files of the portal: changed files have another path.",
        examples: ["0f3c9d5b1e7a"],
      },
      file: {
        type: "string",
        ruled: { minLength: 1 },
        description: "The file's name.",
        examples: ["frame.css"],
      },
    },
    headers: {
      "accept-encoding": { type: "string", description: "The codings that the client accepts." },
      "if-none-match": { type: "string", description: "The entity tags of the cached copies." },
    },
    replyHeaders: { ETag: "A strong entity tag over the bytes that are sent." },
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
