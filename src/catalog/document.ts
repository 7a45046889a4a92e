/**
 * A catalog document: `catalog/catalog.json`, or the operator's own file or address. The schema
 * describes its shape; the rules below relate its parts. Unknown fields are ignored, so that a
 * later minor version of the format can still be read.
 */
import { locateFault } from "../core/json/json-fault.ts";
import { jsonOrUndefined } from "../core/json/json.ts";
import { boolean, list, object, string } from "../core/schema-parts.ts";
import type { Infer } from "../core/schema.ts";
import { parseTimestamp } from "../core/time.ts";
import { validate } from "../core/validate.ts";
import type { CatalogRuntime } from "./schema.ts";

const catalogFile = object({
  description: "A catalog document.",
  optional: ["contract_version", "runtime"],
  properties: {
    contract_version: string("Absent before the format had versions."),
    generated_at: string("When it was produced."),
    runtime: {
      type: "object",
      description: "Where it comes from.",
      required: ["known"],
      properties: {
        repo: string("The repository of the runtime."),
        ref: string("The branch or tag."),
        commit: string("The full SHA."),
        short_commit: string("The abbreviated SHA."),
        known: boolean("Whether the origin is known."),
        note: string("Why it is not."),
      },
    },
    providers: list("The providers.", {
      type: "object",
      required: ["id", "name", "auth", "scope", "operations"],
      properties: {
        id: string("The provider's key."),
        name: string("The display name."),
        auth: string("How it knows who is calling."),
        scope: string("What a call reaches."),
        operations: list("The names of its operations.", { type: "string" }),
      },
    }),
    capabilities: list("The capabilities.", {
      type: "object",
      required: ["id", "name", "provider", "description", "path"],
      properties: {
        id: string("`<provider>/<capability_name>`."),
        name: string("The display name."),
        provider: string("The id of its provider."),
        description: string("A description in one sentence."),
        path: string("Its source path."),
        command: string("An example."),
      },
    }),
  },
});

type CatalogFile = Infer<typeof catalogFile>;

export type DeclaredProvider = CatalogFile["providers"][number];

/** A capability as a catalog document declares it; `command` is an example of its use. */
export type DeclaredCapability = CatalogFile["capabilities"][number];

/** A checked catalog document, its rows sorted by id. */
export interface CatalogDocument {
  readonly contract_version: string;
  readonly generated_at: string;
  readonly runtime: CatalogRuntime;
  readonly providers: readonly DeclaredProvider[];
  readonly capabilities: readonly DeclaredCapability[];
}

const PROVIDER_ID = /^[A-Za-z0-9][^\s/]*$/; // one segment of a path, and of a capability's id
const CAPABILITY_NAME = /^[^\s/]+$/;
const FULL_SHA = /^[\da-f]{40}$/i;
const SHORT_SHA_LENGTH = 7;

/**
 * Reads a catalog document.
 *
 * @throws Error naming the first invalid place, and what was expected there
 */
export function parseCatalog(text: string): CatalogDocument {
  const value = jsonOrUndefined(text);
  if (value === undefined) throw new Error(`it is not JSON: ${locateFault(text)}`);
  const file = validate(catalogFile, value, "catalog");
  if (parseTimestamp(file.generated_at) === undefined) {
    throw fault("catalog.generated_at", "expected an RFC 3339 timestamp");
  }
  const providers = uniqueById(file.providers, "catalog.providers", checkProvider);
  const known = new Set(providers.map(({ id }) => id));
  const capabilities = uniqueById(file.capabilities, "catalog.capabilities", (row, place) =>
    checkCapability(row, place, known),
  );
  return {
    contract_version: file.contract_version ?? "0",
    generated_at: file.generated_at,
    runtime: provenanceOf(file.runtime),
    providers,
    capabilities,
  };
}

function checkProvider({ id, operations }: DeclaredProvider, place: string): void {
  if (!PROVIDER_ID.test(id)) {
    throw fault(`${place}.id`, "expected a letter or digit first, and no slash or white space");
  }
  const seen = new Set<string>(); // a look-up in the list for each name would be quadratic
  const twice = operations.findIndex((name) => seen.size === seen.add(name).size);
  if (twice !== -1) throw fault(`${place}.operations[${twice}]`, "appears twice");
}

function checkCapability(
  { id, provider }: DeclaredCapability,
  place: string,
  providers: ReadonlySet<string>,
): void {
  if (!providers.has(provider)) throw fault(`${place}.provider`, "no provider has this id");
  const name = id.startsWith(`${provider}/`) ? id.slice(provider.length + 1) : "";
  if (!CAPABILITY_NAME.test(name)) {
    throw fault(`${place}.id`, `expected "${provider}/" and a name without slash or white space`);
  }
}

function uniqueById<T extends { readonly id: string }>(
  rows: readonly T[],
  place: string,
  check: (row: T, place: string) => void,
): readonly T[] {
  const seen = new Set<string>();
  rows.forEach((row, index) => {
    check(row, `${place}[${index}]`);
    if (seen.has(row.id)) throw fault(`${place}[${index}].id`, `"${row.id}" appears twice`);
    seen.add(row.id);
  });
  return rows.toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

/** The commit is reported if the document states it, and never guessed. */
function provenanceOf(given: CatalogFile["runtime"]): CatalogRuntime {
  const place = "catalog.runtime";
  const { repo, ref, commit, short_commit: short, known, note } = given ?? { known: false };
  const origin = { ...(repo !== undefined && { repo }), ...(ref !== undefined && { ref }) };
  if (!known) {
    return { ...origin, known, note: note ?? "The catalog does not say where it comes from." };
  }
  if (commit === undefined || !FULL_SHA.test(commit)) {
    throw fault(`${place}.commit`, "expected a full SHA of 40 hexadecimal digits");
  }
  if (short !== undefined && !commit.startsWith(short)) {
    throw fault(`${place}.short_commit`, "expected the beginning of commit");
  }
  return { ...origin, commit, short_commit: short ?? commit.slice(0, SHORT_SHA_LENGTH), known };
}

function fault(place: string, message: string): Error {
  return new Error(`${place}: ${message}`);
}
