import { BadInput, MethodNotAllowed, NotFound } from "../core/errors.ts";
import { PREFIXES, type Method, type Route, type Surface } from "./route.ts";

/** A row on one of its surfaces. */
export interface Endpoint<Needs> {
  readonly row: Route<Needs>;
  readonly surface: Surface;
  /** The row's path with the surface's prefix. */
  readonly path: string;
}

/** The endpoint of a method and a path; `params` are percent-decoded. */
export interface RouteMatch<Needs> {
  readonly endpoint: Endpoint<Needs>;
  readonly params: Readonly<Record<string, string>>;
}

type Methods<Needs> = Map<string, Endpoint<Needs>>;

interface Pattern<Needs> {
  readonly segments: readonly string[];
  readonly methods: Methods<Needs>;
}

const NO_PARAMS = Object.freeze({});

/** The `Allow` header of the server as a whole. */
export const EVERY_METHOD = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS";

/** More segments than any route has. A path of 16 KiB may have as many as it has characters. */
const MOST_SEGMENTS = 32;

/**
 * Finds the row for a method and a path in tables that are built once. A path without parameters is one
 * look-up in a map. Other paths are compared, segment by segment, with the few patterns of the same length.
 * If both a fixed path and a pattern match (`/policies/validate`, `/policies/{version}`), the fixed path
 * wins if it has the method.
 */
export class Router<Needs> {
  readonly #fixed = new Map<string, Methods<Needs>>();
  readonly #patterns = new Map<number, Pattern<Needs>[]>();

  constructor(rows: readonly Route<Needs>[], surfaces: readonly Surface[]) {
    for (const row of rows) {
      for (const surface of row.surfaces.filter((name) => surfaces.includes(name))) {
        const path = PREFIXES[surface] + row.path;
        this.#add(path, row.method, { row, surface, path });
      }
    }
  }

  /**
   * @param path the raw path of the target, without its query
   * @throws NotFound, MethodNotAllowed, or BadInput for an invalid percent-encoding
   */
  find(method: string, path: string): RouteMatch<Needs> {
    const fixed = this.#fixed.get(path);
    const endpoint = fixed?.get(method);
    if (endpoint) return { endpoint, params: NO_PARAMS };

    const raw = path.split("/", MOST_SEGMENTS);
    const decoded = path.includes("%") ? raw.map(decode) : raw;
    const patterns = (this.#patterns.get(raw.length) ?? []).filter(({ segments }) =>
      segments.every((name, i) => (isParameter(name) ? decoded[i] !== "" : name === raw[i])),
    );
    for (const { segments, methods } of patterns) {
      const found = methods.get(method);
      if (found) return { endpoint: found, params: paramsOf(segments, decoded) };
    }

    const known = [fixed, ...patterns.map(({ methods }) => methods)].filter((table) => table);
    if (known.length === 0) throw new NotFound("There is nothing at this path");
    const allow = allowHeader(known.flatMap((table) => [...(table?.keys() ?? [])]));
    const said = `This path does not answer the method ${JSON.stringify(method)}, only ${allow}`;
    throw new MethodNotAllowed(said, allow);
  }

  /** The value of `Allow` for a path; throws as `find` does for an unknown path. */
  allowed(path: string): string {
    try {
      this.find("", path);
    } catch (error) {
      if (error instanceof MethodNotAllowed) return error.allow;
      throw error;
    }
    return "";
  }

  #add(path: string, method: Method, endpoint: Endpoint<Needs>): void {
    const methods = this.#methodsAt(path);
    if (methods.has(method)) throw new Error(`Two rows answer ${method} ${path}`);
    methods.set(method, endpoint);
    if (method === "GET") methods.set("HEAD", endpoint);
  }

  #methodsAt(path: string): Methods<Needs> {
    const segments = path.split("/");
    if (segments.length >= MOST_SEGMENTS) throw new Error(`Too many segments: ${path}`);
    if (!segments.some(isParameter)) {
      const known = this.#fixed.get(path) ?? new Map<string, Endpoint<Needs>>();
      this.#fixed.set(path, known);
      return known;
    }
    const sameLength = this.#patterns.get(segments.length) ?? [];
    this.#patterns.set(segments.length, sameLength);
    const known = sameLength.find((pattern) => pattern.segments.join("/") === path);
    if (known) return known.methods;
    const methods = new Map<string, Endpoint<Needs>>();
    sameLength.push({ segments, methods });
    return methods;
  }
}

function isParameter(segment: string): boolean {
  return segment.startsWith("{");
}

function paramsOf(
  segments: readonly string[],
  decoded: readonly string[],
): Readonly<Record<string, string>> {
  const params: Record<string, string> = {};
  segments.forEach((name, i) => {
    if (isParameter(name)) params[name.slice(1, -1)] = decoded[i] ?? "";
  });
  return params;
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new BadInput("The path holds a percent-encoding that is not UTF-8");
  }
}

/** Formats methods for `Allow`, each once, with OPTIONS, which every path supports. */
function allowHeader(methods: readonly string[]): string {
  return [...new Set(methods), "OPTIONS"].join(", ");
}
