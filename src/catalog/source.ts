/**
 * The source of the catalog. The shipped catalog and a file are read once, at start. A URL is
 * fetched at start and again at intervals. Its last valid text is stored, so that neither a restart
 * nor an outage of that server leaves the service without a catalog. Where several servers share that text,
 * one of them fetches it again, and the others read it.
 */
import { readFile, stat } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { ConfigError } from "../core/config-error.ts";
import { MINUTE_MS, SECOND_MS } from "../core/clock.ts";
import type { Log } from "../core/log.ts";
import { ROOT } from "../core/root.ts";
import { clearInterval, setInterval } from "../core/timers.ts";
import { isObject } from "../core/validate.ts";
import { parseCatalog, type CatalogDocument } from "./document.ts";
import { fetchText, reportedUrl, withoutUser, type FetchLimits } from "./fetch.ts";
import { viewOf, type Catalog, type CatalogView } from "./view.ts";

/** Stores one text for the next start. */
export interface CatalogCopy {
  /** `undefined` if no text was stored yet. */
  read(): Promise<string | undefined>;
  write(text: string): Promise<void>;
  /**
   * Present if several servers share the copy. Does work unless one of them did it within the last `forMs`
   * milliseconds, and returns whether it did the work.
   */
  once?(forMs: number, work: () => Promise<void>): Promise<boolean>;
}

/** The limits and the interval of fetches. */
export interface CatalogLimits extends FetchLimits {
  /** Milliseconds between two fetches. */
  readonly everyMs: number;
}

const LIMITS: CatalogLimits = {
  everyMs: 10 * MINUTE_MS,
  timeoutMs: 5 * SECOND_MS,
  maxBytes: 16 * 1024 * 1024,
};

const SHIPPED = fileURLToPath(new URL("../catalog/catalog.json", ROOT));

/** A catalog that can be refreshed, and must be closed. */
export interface OpenCatalog extends Catalog {
  /** Fetches the URL again now. If that fails, the catalog stays as it is, and a warning is logged. */
  refresh(): Promise<void>;
  close(): void;
}

/**
 * Opens the catalog that the setting names: `embed`, an `http` or `https` URL, or a file's path.
 *
 * @throws ConfigError for an invalid file, Error for a URL without a catalog; both name
 *   the setting and the fault
 */
export async function openCatalog(
  setting: string,
  copy: CatalogCopy,
  log: Log,
  limits: CatalogLimits = LIMITS,
): Promise<OpenCatalog> {
  if (/^https?:\/\//i.test(setting)) return FetchedCatalog.open(setting, copy, log, limits);
  const view =
    setting === "embed"
      ? viewOf(await readShippedCatalog(), "embed")
      : viewOf(await readDocument(setting, `"${setting}"`), `file:${setting}`);
  return { current: () => view, refresh: () => Promise.resolve(), close: () => {} };
}

/** The catalog that ships with the service, including the example commands, which no response contains. */
export function readShippedCatalog(): Promise<CatalogDocument> {
  return readDocument(SHIPPED, "the shipped catalog");
}

async function readDocument(path: string, called: string): Promise<CatalogDocument> {
  let text: string;
  try {
    // A pipe would wait for a writer, and a device may never end.
    if (!(await stat(path)).isFile()) {
      throw new ConfigError(`CATALOG_SOURCE: ${called}: expected a file, found something else`);
    }
    text = await readFile(path, "utf8");
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    throw new ConfigError(`CATALOG_SOURCE: ${called} cannot be read (${code ?? "unknown reason"})`);
  }
  try {
    return parseCatalog(text);
  } catch (error) {
    throw new ConfigError(`CATALOG_SOURCE: ${called}: ${messageOf(error)}`);
  }
}

class FetchedCatalog implements OpenCatalog {
  readonly #url: string;
  readonly #shownUrl: string;
  /** Names the URL in the copy, so that the copy of another URL is not used. */
  readonly #keptUrl: string;
  readonly #copy: CatalogCopy;
  readonly #log: Log;
  readonly #limits: CatalogLimits;
  readonly #closing = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #view: CatalogView | undefined;
  #text = "";

  private constructor(url: string, copy: CatalogCopy, log: Log, limits: CatalogLimits) {
    this.#url = url;
    this.#shownUrl = reportedUrl(url);
    this.#keptUrl = withoutUser(url);
    this.#copy = copy;
    this.#log = log;
    this.#limits = limits;
  }

  static async open(
    url: string,
    copy: CatalogCopy,
    log: Log,
    limits: CatalogLimits,
  ): Promise<FetchedCatalog> {
    const catalog = new FetchedCatalog(url, copy, log, limits);
    try {
      await catalog.#fetch();
    } catch (error) {
      await catalog.#useCopy(messageOf(error));
    }
    catalog.#timer = setInterval(() => void catalog.refresh(), limits.everyMs);
    catalog.#timer.unref();
    return catalog;
  }

  current(): CatalogView {
    if (!this.#view) throw new Error("The catalog is not open yet");
    return this.#view;
  }

  async refresh(): Promise<void> {
    try {
      if (!this.#copy.once) return await this.#fetch();
      const kept = await this.#readCopy(); // another server may have fetched it
      if (kept) this.#show(kept.document, kept.text);
      // Shorter than the interval: otherwise a server whose timer fires early would skip its turn.
      await this.#copy.once(this.#limits.everyMs * 0.9, () => this.#fetch());
    } catch (error) {
      if (this.#closing.signal.aborted) return;
      this.#warn("the catalog could not be fetched, the last one stays in use", error);
    }
  }

  close(): void {
    clearInterval(this.#timer);
    this.#closing.abort();
  }

  async #fetch(): Promise<void> {
    const text = await fetchText(this.#url, this.#limits, this.#closing.signal);
    if (text === this.#text) return;
    this.#show(parseCatalog(text), text);
    try {
      await this.#copy.write(`${JSON.stringify({ url: this.#keptUrl, text })}\n`);
    } catch (error) {
      this.#warn("the catalog's copy could not be kept", error);
    }
  }

  #show(document: CatalogDocument, text: string): void {
    this.#view = viewOf(document, `url:${this.#shownUrl}`);
    this.#text = text;
  }

  async #useCopy(reason: string): Promise<void> {
    const kept = await this.#readCopy();
    if (!kept) {
      const place = `CATALOG_SOURCE: "${this.#shownUrl}"`;
      throw new Error(`${place}: ${reason}, and there is no earlier copy of it to start with`);
    }
    this.#show(kept.document, kept.text);
    this.#warn("the catalog could not be fetched, its last copy is used", new Error(reason));
  }

  /** Reads the stored copy; `undefined` for a copy of another URL, or an unreadable one. */
  async #readCopy(): Promise<{ document: CatalogDocument; text: string } | undefined> {
    try {
      const kept: unknown = JSON.parse((await this.#copy.read()) ?? "null");
      if (!isObject(kept) || kept["url"] !== this.#keptUrl) return undefined;
      const text = String(kept["text"]);
      return { document: parseCatalog(text), text };
    } catch (error) {
      this.#warn("the catalog's copy cannot be used", error);
      return undefined;
    }
  }

  #warn(message: string, error: unknown): void {
    this.#log.warn(message, { url: this.#shownUrl, reason: messageOf(error) });
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
