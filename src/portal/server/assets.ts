/**
 * The static files of the portal, which the build bundles and minifies: one module for each page, one
 * stylesheet made of `style/*.css`, and the icon. They are read once at start and served under a path that holds
 * a hash of all of them, so that browsers may keep every file for good. Each file is compressed
 * off the event loop on first use.
 */
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { constants, gzip } from "node:zlib";
import type { Awaitable } from "../../core/caller.ts";
import { ROOT } from "../../core/root.ts";
import { acceptsGzip } from "../../http/accept-encoding.ts";
import { isCurrent } from "../../http/entity-tag.ts";
import { empty, text, type HeaderList, type Reply } from "../../http/reply.ts";

const TYPES: Readonly<Record<string, string>> = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
};
/** A file of 1 KiB fits into one packet: compressing it would only cost both sides time. */
const SHORT_BYTES = 1024;
/** Keeps other sites from loading the portal's pages and files. The API is guarded by CORS instead. */
export const SAME_ORIGIN: HeaderList = ["Cross-Origin-Resource-Policy", "same-origin"];

const STYLE = "portal.css";
/** The modules of pages with a stylesheet of their own, in place of the common one. */
const OWN_STYLES: Readonly<Record<string, string>> = {
  audit: "audit-page.css",
  policies: "policy-pages.css",
  "policy-editor": "policy-pages.css",
  rollouts: "policy-pages.css",
  rule: "policy-pages.css",
};
const ICON = "icon.svg";
const EARLY = "early.js";

const gzipped = promisify(gzip);

/** The portal's files: their addresses for pages, and their contents for the route. */
export class PortalAssets {
  /** Whether the browser modules are built. */
  readonly hasModules: boolean;
  readonly #files: ReadonlyMap<string, Asset>;
  readonly #prefix: string;

  constructor(contents: ReadonlyMap<string, string>) {
    const hash = createHash("sha256");
    for (const [name, content] of contents) hash.update(`${name}\0${content}\0`);
    const version = hash.digest("hex").slice(0, 16);
    this.#prefix = `/portal/assets/${version}/`;
    this.#files = new Map(
      [...contents].map(([name, content]) => [name, new Asset(name, content, version)]),
    );
    this.hasModules = this.#files.has(EARLY);
  }

  /** The address of a page's stylesheet, by the name of its module. */
  stylesheet(module = ""): string {
    return this.#prefix + (OWN_STYLES[module] ?? STYLE);
  }

  get icon(): string {
    return this.#prefix + ICON;
  }

  /** The address of the script that runs before the page is shown; `undefined` without a build. */
  get early(): string | undefined {
    return this.#pathOf(EARLY);
  }

  /** The address of a page's module, by the name of its entry; `undefined` without a build. */
  module(name: string): string | undefined {
    return this.#pathOf(`${name}.js`);
  }

  /** Answers a request for a file, in a coding that the client accepts; `undefined` for an unknown file. */
  send(path: string, headers: AssetRequestHeaders): Awaitable<Reply> | undefined {
    if (!path.startsWith(this.#prefix)) return undefined;
    return this.#files.get(path.slice(this.#prefix.length))?.send(headers);
  }

  #pathOf(file: string): string | undefined {
    return this.#files.has(file) ? this.#prefix + file : undefined;
  }
}

/** The request headers that decide how a file is sent. */
export interface AssetRequestHeaders {
  readonly "accept-encoding"?: string | undefined;
  readonly "if-none-match"?: string | undefined;
}

/** One file and its compressed form. */
class Asset {
  readonly #bytes: Buffer;
  readonly #type: string;
  readonly #version: string;
  #gzipped: Promise<Buffer> | undefined;

  constructor(name: string, content: string, version: string) {
    this.#bytes = Buffer.from(content, "utf8");
    this.#version = version;
    this.#type = TYPES[name.slice(name.lastIndexOf(".") + 1)] ?? "application/octet-stream";
  }

  send(request: AssetRequestHeaders): Awaitable<Reply> {
    const isGzip = this.#bytes.length > SHORT_BYTES && acceptsGzip(request["accept-encoding"]);
    const etag = `"${this.#version}${isGzip ? "-gzip" : ""}"`;
    const headers: HeaderList = [
      ...["ETag", etag, "Cache-Control", "public, max-age=31536000, immutable"],
      ...["Vary", "Origin, Accept-Encoding", ...SAME_ORIGIN],
      ...(isGzip ? ["Content-Encoding", "gzip"] : []),
    ];
    if (isCurrent(request["if-none-match"], etag)) return empty(304, headers);
    if (!isGzip) return text(200, this.#type, this.#bytes, headers);
    // On the thread pool, so that requests of runtimes do not wait for it.
    this.#gzipped ??= gzipped(this.#bytes, { level: constants.Z_BEST_COMPRESSION });
    return this.#gzipped.then((bytes) => text(200, this.#type, bytes, headers));
  }
}

/**
 * Reads the files from where the build puts them, which is the same folder whether this runs compiled or
 * from its source. Without a build there are no files, and pages are plain text.
 */
export async function readPortalAssets(): Promise<PortalAssets> {
  const folder = fileURLToPath(new URL("../dist/portal/browser/", ROOT));
  const contents = new Map<string, string>();
  for (const name of await filesIn(folder)) {
    contents.set(name, await readFile(folder + name, "utf8"));
  }
  return new PortalAssets(contents);
}

async function filesIn(folder: string): Promise<readonly string[]> {
  try {
    return (await readdir(folder)).sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}
