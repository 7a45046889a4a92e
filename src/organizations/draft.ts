import { checkNewPassword } from "../auth/password.ts";
import { BadInput } from "../core/errors.ts";
import type { Infer } from "../core/schema.ts";
import { validate } from "../core/validate.ts";
import { checkEmail } from "../users/email.ts";
import { organizationChange, organizationCreate } from "./schema.ts";
import { checkSlug } from "./slug.ts";

/** The body of an organization's creation. */
export const organizationCreateBody = {
  schema: organizationCreate,
  read(value: unknown): Infer<typeof organizationCreate> {
    const given = validate(organizationCreate, value);
    const name = readName(given.name);
    if (given.slug !== undefined) checkSlug(given.slug, "slug");
    checkEmail(given.admin_email, "admin_email");
    checkNewPassword(given.admin_password, "admin_password");
    return { ...given, name };
  },
};

/** The body of a request that renames an organization. */
export const organizationChangeBody = {
  schema: organizationChange,
  read(value: unknown): Infer<typeof organizationChange> {
    return { name: readName(validate(organizationChange, value).name) };
  },
};

function readName(given: string): string {
  const name = given.trim();
  if (name === "") throw new BadInput("name: required");
  return name;
}
