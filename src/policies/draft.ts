import type { Actor } from "../core/caller.ts";
import { BadInput, Conflict } from "../core/errors.ts";
import { formatTimestamp } from "../core/time.ts";
import { type Policy, policyPublish, type PolicyPublish, VERSION_NAME } from "./schema.ts";

/** The author of a policy version if the request does not name an author and no user is signed in. */
const DEFAULT_AUTHOR = "portal-api";

const { maxLength: MAX_VERSION_LENGTH } = VERSION_NAME; // code points
const VERSION = new RegExp(VERSION_NAME.pattern, "u");

/** A policy version that is ready to be stored. */
export interface PolicyDraft {
  readonly version: string;
  /** Whether the version's name was generated. A generated name may be changed if it is taken. */
  readonly isGenerated: boolean;
  readonly name: string;
  readonly description: string | undefined;
  readonly yaml: string;
  /** Whether it becomes the active version. */
  readonly activates: boolean;
  /** The draft is stored only if this version is active; `""`: if no version is active. Not checked if absent. */
  readonly base?: string;
  readonly updated_by: string;
  readonly updated_at: string;
}

/**
 * Completes the request for a new policy version.
 *
 * @param now milliseconds since the epoch
 * @throws BadInput if the given version name is invalid
 */
export function draftPolicy(
  body: PolicyPublish,
  now: number,
  actor: Actor | undefined,
): PolicyDraft {
  if (body.version !== undefined && !isVersionName(body.version)) {
    throw new BadInput(
      `version: expected 1 to ${MAX_VERSION_LENGTH} characters, no control characters, and neither "." nor ".."`,
    );
  }
  return {
    version: body.version ?? generatedVersion(now),
    isGenerated: body.version === undefined,
    name: body.name ?? policyPublish.properties.name.default,
    description: body.description,
    yaml: body.yaml,
    activates: body.activate ?? policyPublish.properties.activate.default,
    ...(body.base_version !== undefined && { base: body.base_version }),
    updated_by: body.updated_by ?? nameOf(actor),
    updated_at: formatTimestamp(now),
  };
}

/**
 * The name under which a draft is stored: its own name, or that name with the first free suffix if a
 * generated name is taken.
 *
 * @throws Conflict if the given name is taken: a version never changes
 */
export function freeVersion(
  { version, isGenerated }: PolicyDraft,
  isTaken: (version: string) => boolean,
): string {
  if (!isTaken(version)) return version;
  if (!isGenerated) throw new Conflict(`Policy version "${version}" already exists`);
  let suffix = 2;
  while (isTaken(`${version}-${suffix}`)) suffix++;
  return `${version}-${suffix}`;
}

/**
 * Refuses a draft whose base is not the active version. A store calls it in the unit of work that stores the
 * version, since the active version may change until then.
 *
 * @param active the active version's name; `""` if none is active
 * @throws Conflict naming both versions
 */
export function requireBase({ base }: Pick<PolicyDraft, "base">, active: string): void {
  if (base === undefined || base === active) return;
  const found = active === "" ? "no version is active" : `the active version is "${active}"`;
  throw new Conflict(`base_version: ${found}, expected ${base === "" ? "none" : `"${base}"`}`);
}

/** A draft as a version of an organization, without its text. */
export function publishedPolicy(
  organization: string,
  version: string,
  { name, description, activates, updated_by, updated_at }: PolicyDraft,
): Omit<Policy, "yaml"> {
  return {
    organization_id: organization,
    name,
    version,
    ...(description === undefined ? {} : { description }),
    updated_by,
    updated_at,
    active: activates, // the last key, as after a restart, so that the version's bytes and entity tag stay the same
  };
}

/** The author that policy versions record: a user's email, or `portal-api`. */
export function nameOf(actor: Actor | undefined): string {
  return actor?.kind === "user" ? actor.email : DEFAULT_AUTHOR;
}

/**
 * Whether a text can name a policy version: 1 to 128 code points, neither `.` nor `..` (a URL cannot
 * contain them as a segment), and no character that breaks a line or a log: control characters (C0, DEL,
 * C1), line and paragraph separators.
 */
export function isVersionName(text: string): boolean {
  if (text.length > 2 * MAX_VERSION_LENGTH || [...text].length > MAX_VERSION_LENGTH) return false;
  return VERSION.test(text);
}

/** The UTC time as a version name: `20261120T203000Z`. */
function generatedVersion(now: number): string {
  return formatTimestamp(now).replace(/[-:]|\.\d+/g, "");
}
