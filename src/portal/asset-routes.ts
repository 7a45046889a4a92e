import { NotFound } from "../core/errors.ts";
import type { Reply } from "../http/reply.ts";
import { route } from "../http/route.ts";
import type { AssetRequestHeaders, PortalAssets } from "./assets.ts";

/** What the rows of files need. */
export interface AssetNeeds {
  readonly assets: PortalAssets;
}

const FILE = {
  method: "GET",
  surfaces: ["portal"],
  access: "open",
  tags: ["portal"],
  headers: {
    "accept-encoding": { type: "string", description: "The codings that the reader takes." },
    "if-none-match": { type: "string", description: "The entity tags of the copies at hand." },
  },
  replyHeaders: { ETag: "A strong entity tag over the bytes that are sent." },
  replies: {
    200: ["text/javascript", "text/css", "image/svg+xml"],
    304: ["text/javascript", "text/css", "image/svg+xml"],
  },
  refuses: [404],
} as const;

const HASH = "A hash of all files of the portal: another content has another path.";

/** The files that pages are made of; the length of a path is that of the folder it names. */
export const assetRoutes = [
  route({
    ...FILE,
    path: "/portal/assets/{hash}/{folder}/{file}",
    summary: "A file of the pages",
    params: { hash: HASH, folder: "The file's folder.", file: "The file's name." },
    handle: ({ params: { hash, folder, file }, headers }, { assets }: AssetNeeds) =>
      send(assets, `/portal/assets/${hash}/${folder}/${file}`, headers),
  }),
  route({
    ...FILE,
    path: "/portal/assets/{hash}/{folder}/{part}/{file}",
    summary: "A module of the pages",
    params: {
      hash: HASH,
      folder: "The part of the program.",
      part: "The folder in it.",
      file: "The file's name.",
    },
    handle: ({ params: { hash, folder, part, file }, headers }, { assets }: AssetNeeds) =>
      send(assets, `/portal/assets/${hash}/${folder}/${part}/${file}`, headers),
  }),
];

function send(assets: PortalAssets, path: string, headers: AssetRequestHeaders): Reply {
  const reply = assets.send(path, headers);
  if (!reply) throw new NotFound("No such file is part of this build: load the page again");
  return reply;
}
