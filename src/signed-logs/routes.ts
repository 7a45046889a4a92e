/** The routes that prove what the signed logs contain. Below `/audit` and `/activity` they are the same. */
import { BadInput, NotFound } from "../core/errors.ts";
import { integer, list, object, string } from "../core/schema-parts.ts";
import { text, type HeaderList } from "../http/reply.ts";
import { route, type Surface } from "../http/route.ts";
import { EVENT_ID } from "../audit/schema.ts";
import type { LogName } from "../proof/log-name.ts";
import { parseTilePath } from "../proof/tiles.ts";
import type { SignedLogs } from "./store.ts";

interface Needs {
  /** `undefined` while nothing is signed. */
  readonly proofs: SignedLogs | undefined;
}

/** A log, and the access to it, which is that of reading its lines. */
interface LogRoutes<L extends LogName> {
  readonly log: L;
  readonly lines: string;
  readonly line: string;
  readonly whose: string;
  readonly access: {
    readonly surfaces: readonly Surface[];
    readonly keys?: "audit.read";
    readonly tags: readonly [string];
  };
}

const consistency = object({
  title: "LogConsistency",
  description: "The proof that a tree continues a smaller one (RFC 6962 §2.1.2).",
  properties: {
    from: integer("The smaller size."),
    to: integer("The larger size."),
    hashes: list("The hashes, in Base64.", string("32 bytes in Base64.")),
  },
});

const common = { method: "GET", access: "user" } as const;
const OFF = "The status is 404 unless `CHECKPOINT_SECONDS` is above 0.";
const PLAIN = "text/plain; charset=utf-8";
const BINARY = "application/octet-stream";
const MOST = { minimum: 0, maximum: Number.MAX_SAFE_INTEGER, default: 0 } as const;

const level = string("The level of the tile; 0 has the hashes of events.", {
  ruled: { pattern: "^[0-9]{1,2}$" },
  examples: ["0"],
});
const part = string(
  "A part of the number of the tile, such as `x001` and `067`; after `067.p`, its number of hashes.",
  { ruled: { pattern: "^(x[0-9]{3}|[0-9]{3}|[0-9]{3}\\.p|[0-9]{1,3})$" }, examples: ["000"] },
);

/** The tile never changes, but the caller's organization decides which one it is. */
const FOREVER: HeaderList = [
  ...["Cache-Control", "private, max-age=31536000, immutable"],
  ...["Vary", "Origin, Authorization, X-API-Key"],
];

/** The routes of both logs. */
export const signedLogRoutes = [
  ...routesOf({
    log: "audit",
    lines: "events",
    line: "event",
    whose: "If several reporters used the id, it is for the event that was stored first.",
    access: { surfaces: ["public", "v1"], keys: "audit.read", tags: ["audit"] },
  }),
  ...routesOf({
    log: "activity",
    lines: "entries",
    line: "entry",
    whose: "The whole log is searched for the entry.",
    access: { surfaces: ["v1"], tags: ["activity"] },
  }),
];

function routesOf<L extends LogName>({ log, lines, line, whose, access }: LogRoutes<L>) {
  return [
    route({
      ...{ ...common, ...access },
      large: "listed", // over a database each has a query of its own, and a burst would fill its line
      path: `/${log}/checkpoint`,
      summary: `Get the last signed checkpoint of the ${log} log`,
      description: `The size and root of the tree over all ${lines} of the log, as a signed note (C2SP tlog-checkpoint). ${OFF}`,
      replies: { 200: "text/plain" },
      refuses: [404, 500],
      async handle({ organization }, needs: Needs) {
        return text(200, PLAIN, await logsOf(needs).checkpoint({ organization, log }));
      },
    }),
    route({
      ...{ ...common, ...access },
      path: `/${log}/verifier`,
      summary: `Get the public key of the ${log} log`,
      description: `The key that signs checkpoints, as one word (C2SP signed-note). ${OFF}`,
      replies: { 200: "text/plain" },
      refuses: [404, 500],
      async handle({ organization }, needs: Needs) {
        return text(200, PLAIN, `${logsOf(needs).verifier({ organization, log })}\n`);
      },
    }),
    route({
      ...{ ...common, ...access },
      large: "made", // it reads tiles of every level, and computes subtrees that are not full
      path: `/${log}/consistency`,
      summary: `Prove that the ${log} log only grew`,
      description: `The hashes that show that the first \`from\` ${lines} of the tree of \`to\` ${lines} are unchanged. ${OFF}`,
      query: {
        from: integer("The smaller size.", MOST),
        to: integer("The larger size, at most that of the last checkpoint.", MOST),
      },
      replies: { 200: consistency },
      refuses: [400, 404, 500],
      async handle({ organization, query }, needs: Needs) {
        const logs = logsOf(needs);
        const { from, to } = query;
        if (from > to) throw new BadInput(`from: ${from} is larger than to, ${to}`);
        const hashes = await logs.consistency({ organization, log }, from, to);
        if (!hashes) throw new NotFound(`to: the last checkpoint has fewer than ${to} ${lines}`);
        return { from, to, hashes: hashes.map((hash) => hash.toString("base64")) };
      },
    }),
    route({
      ...{ ...common, ...access },
      large: "made", // a line may have some MiB, and the activity log is searched for it
      path: `/${log}/{id}/proof`,
      summary: `Prove that the ${log} log contains an ${line}`,
      description: `A file (C2SP tlog-proof) that \`signalbox verify-proof\` and other programs check without the server. ${whose} ${OFF}`,
      params: {
        id: string(`The id of the ${line}.`, {
          ruled: EVENT_ID,
          examples: ["01m81jf1ew0001pcmmak1ve7xq"],
        }),
      },
      replies: { 200: BINARY },
      refuses: [404, 409, 500],
      async handle({ organization, params }, needs: Needs) {
        const proof = await logsOf(needs).proof({ organization, log }, params.id.trim());
        return text(200, BINARY, proof);
      },
    }),
    // The number of a tile has one part for three digits, and the width of a partial one is another.
    tileRoute(`/${log}/tile/{level}/{a}`),
    tileRoute(`/${log}/tile/{level}/{a}/{b}`),
    tileRoute(`/${log}/tile/{level}/{a}/{b}/{c}`),
    tileRoute(`/${log}/tile/{level}/{a}/{b}/{c}/{d}`),
  ];

  function tileRoute(path: string) {
    const parts = [...path.matchAll(/\{([a-d])\}/g)].map(([, name = ""]) => [name, part]);
    return route({
      ...{ ...common, ...access },
      large: "listed", // as checkpoints, with two queries
      path,
      summary: `Get a tile of the tree of the ${log} log (${parts.length} path segments)`,
      description: `Up to 256 hashes of 32 bytes (C2SP tlog-tiles). A tile is there if the last checkpoint has all of its hashes. ${OFF}`,
      params: { level, ...Object.fromEntries(parts) },
      replies: { 200: BINARY },
      refuses: [404, 500],
      async handle({ organization, params }, needs: Needs) {
        const logs = logsOf(needs);
        // They are in the order of the path.
        const place = parseTilePath(Object.values(params as Record<string, string>).join("/"));
        const tile = place && (await logs.tile({ organization, log }, place));
        if (!tile) throw new NotFound("The last checkpoint has no such tile");
        return text(200, BINARY, tile, FOREVER);
      },
    });
  }
}

function logsOf({ proofs }: Needs): SignedLogs {
  if (proofs !== undefined) return proofs;
  throw new NotFound("The logs are not signed: set CHECKPOINT_SECONDS to sign them");
}
