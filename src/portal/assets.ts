/**
 * The static files of the portal: the compiled browser modules, one stylesheet made of `style/*.css`,
 * and the icon. They are read once at start and served under a path that holds a hash of all of
 * them, so that relative imports between modules work unchanged and browsers may keep every file
 * for good. Compressed forms are made when they are first asked for, and kept.
 */
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { posix } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { codingFor, type ContentCoding } from "../http/accept-encoding.ts";
import { isCurrent } from "../http/entity-tag.ts";
import { empty, text, type HeaderList, type Reply } from "../http/reply.ts";

const TYPES: Readonly<Record<string, string>> = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
};
const BROTLI_QUALITY = 9; // one step below where it takes ten times as long for a twentieth less
const STYLE = "style/portal.css";
const ICON = "style/icon.svg";
const THEME = "portal/browser/theme.js";
const IMPORT = /\b(?:from|import)\s*\(?\s*"(\.[^"]+)"/g;

/** The portal's files, as pages name them and as rows send them. */
export class PortalAssets {
  /** Whether there are browser modules; without a build there are none. */
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
    this.hasModules = this.#files.has(THEME);
  }

  get stylesheet(): string {
    return this.#prefix + STYLE;
  }

  get icon(): string {
    return this.#prefix + ICON;
  }

  /** The small script that sets the theme before anything is shown. */
  get theme(): string {
    return this.#prefix + THEME;
  }

  /** The paths of a module of `browser/` and, after it, of all that it imports; empty without a build. */
  modules(name: string): readonly string[] {
    const found = new Set<string>();
    const visit = (file: string): void => {
      const content = this.#files.get(file)?.content;
      if (content === undefined || found.has(file)) return;
      found.add(file);
      for (const target of importsOf(file, content)) visit(target);
    };
    visit(`portal/browser/${name}.js`);
    return [...found].map((file) => this.#prefix + file);
  }

  /** Answers a request for a file, in the coding that its reader takes; `undefined` for no such file. */
  send(path: string, headers: AssetRequestHeaders): Reply | undefined {
    if (!path.startsWith(this.#prefix)) return undefined;
    return this.#files.get(path.slice(this.#prefix.length))?.send(headers);
  }
}

/** What a reader of a file says of itself. */
export interface AssetRequestHeaders {
  readonly "accept-encoding"?: string | undefined;
  readonly "if-none-match"?: string | undefined;
}

/** One file and its forms. */
class Asset {
  readonly content: string;
  readonly #type: string;
  readonly #version: string;
  readonly #forms = new Map<ContentCoding | undefined, Buffer>();
  readonly #codings: ReadonlySet<ContentCoding>;

  constructor(name: string, content: string, version: string) {
    this.content = content;
    this.#version = version;
    this.#type = TYPES[name.slice(name.lastIndexOf(".") + 1)] ?? "application/octet-stream";
    // A packet holds a file of a KiB as it is: packing it would only cost both sides time.
    this.#codings = new Set(content.length > 1024 ? (["br", "gzip"] as const) : []);
  }

  send({ "accept-encoding": accepted, "if-none-match": known }: AssetRequestHeaders): Reply {
    const coding = codingFor(accepted, this.#codings);
    const etag = `"${this.#version}${coding === undefined ? "" : `-${coding}`}"`;
    const headers: HeaderList = [
      "ETag",
      etag,
      "Cache-Control",
      "public, max-age=31536000, immutable",
      "Vary",
      "Origin, Accept-Encoding",
      ...(coding === undefined ? [] : ["Content-Encoding", coding]),
    ];
    if (isCurrent(known, etag)) return empty(304, headers);
    return text(200, this.#type, this.#form(coding), headers);
  }

  #form(coding: ContentCoding | undefined): Buffer {
    const made = this.#forms.get(coding) ?? encode(Buffer.from(this.content, "utf8"), coding);
    this.#forms.set(coding, made);
    return made;
  }
}

function encode(bytes: Buffer, coding: ContentCoding | undefined): Buffer {
  if (coding === undefined) return bytes;
  if (coding === "gzip") return gzipSync(bytes, { level: constants.Z_BEST_COMPRESSION });
  return brotliCompressSync(bytes, {
    params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY },
  });
}

/** The modules that a compiled one imports, by their names among the files. */
function importsOf(file: string, content: string): readonly string[] {
  return [...content.matchAll(IMPORT)].map(([, target = ""]) =>
    posix.join(posix.dirname(file), target),
  );
}

/**
 * Reads the files: styles from beside this one, modules from where the build puts them, which is
 * the same place whether this runs compiled or from its source.
 */
export async function readPortalAssets(): Promise<PortalAssets> {
  const styleFolder = fileURLToPath(new URL("./style/", import.meta.url));
  const built = fileURLToPath(new URL("../../dist/browser/", import.meta.url));
  const contents = new Map<string, string>([
    [STYLE, await readStyles(styleFolder)],
    [ICON, (await readFile(`${styleFolder}icon.svg`, "utf8")).trim()],
  ]);
  const visit = async (file: string): Promise<void> => {
    if (contents.has(file)) return;
    const content = await readFile(built + file, "utf8");
    contents.set(file, content);
    for (const target of importsOf(file, content)) await visit(target);
  };
  for (const name of await modulesIn(`${built}portal/browser`)) {
    await visit(`portal/browser/${name}`);
  }
  return new PortalAssets(contents);
}

async function readStyles(folder: string): Promise<string> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(".css")).sort();
  // The base opens, since it names the layers in their order; the others may follow in any.
  const ordered = ["base.css", ...names.filter((name) => name !== "base.css")];
  const texts = await Promise.all(ordered.map((name) => readFile(folder + name, "utf8")));
  return texts.join("\n").replace(/^\s+/gm, "");
}

async function modulesIn(folder: string): Promise<readonly string[]> {
  try {
    return (await readdir(folder)).filter((name) => name.endsWith(".js")).sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}
