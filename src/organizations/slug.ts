import { BadInput, Conflict } from "../core/errors.ts";

/** The form of a slug. */
export const SLUG = { pattern: "^[a-z0-9][a-z0-9-]*$", maxLength: 63 } as const;
const PATTERN = new RegExp(SLUG.pattern);
const MAX_LENGTH = SLUG.maxLength;
const FALLBACK = "organization";

/** Whether a text has the form of a slug, which is also the id of its organization. */
export function isSlug(text: string): boolean {
  return text.length <= MAX_LENGTH && PATTERN.test(text);
}

/**
 * Refuses an invalid slug.
 *
 * @throws BadInput naming the place
 */
export function checkSlug(slug: string, place: string): void {
  if (isSlug(slug)) return;
  throw new BadInput(
    `${place}: expected at most ${MAX_LENGTH} lower-case letters, digits and hyphens, no hyphen first`,
  );
}

/** The refusal of a slug that another organization has. */
export function slugTaken(slug: string): Conflict {
  return new Conflict(`An organization has the slug "${slug}" already`);
}

/**
 * Makes a slug of a name: accents are removed, every other character except letters and digits
 * becomes a hyphen.
 */
export function slugOf(name: string): string {
  const slug = name
    .normalize("NFKD")
    .replace(/\p{Mark}/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-");
  return trimmed(slug, MAX_LENGTH) || FALLBACK;
}

/** Makes a free slug of a name, with a number if needed. */
export function freeSlug(name: string, isTaken: (slug: string) => boolean): string {
  const plain = slugOf(name);
  let slug = plain;
  for (let number = 2; isTaken(slug); number++) {
    const suffix = `-${number}`;
    slug = trimmed(plain, MAX_LENGTH - suffix.length) + suffix;
  }
  return slug;
}

function trimmed(slug: string, length: number): string {
  return slug.replace(/^-/, "").slice(0, length).replace(/-$/, "");
}
