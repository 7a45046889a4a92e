import { checkNewPassword } from "../auth/password.ts";
import { BadInput } from "../core/errors.ts";
import { bodyOf } from "../core/validate.ts";
import { checkEmail } from "../users/email.ts";
import { organizationChange, organizationCreate } from "./schema.ts";
import { checkSlug } from "./slug.ts";

/** The body of an organization's creation. */
export const organizationCreateBody = bodyOf(organizationCreate, (given) => {
  const name = readName(given.name);
  if (given.slug !== undefined) checkSlug(given.slug, "slug");
  checkEmail(given.admin_email, "admin_email");
  checkNewPassword(given.admin_password, "admin_password");
  return { ...given, name };
});

/** The body of a request that renames an organization. */
export const organizationChangeBody = bodyOf(organizationChange, ({ name }) => ({
  name: readName(name),
}));

function readName(given: string): string {
  const name = given.trim();
  if (name === "") throw new BadInput("name: required");
  return name;
}
