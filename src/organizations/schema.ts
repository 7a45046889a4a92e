import { NEW_PASSWORD } from "../auth/new-password.ts";
import { dateTime, list, object, string } from "../core/schema-parts.ts";
import type { Infer } from "../core/schema.ts";
import { EMAIL } from "../users/email.ts";
import { SLUG } from "./slug.ts";

const name = string("The display name: any text that is not only white space.", {
  maxLength: 256,
  ruled: { pattern: "\\S" },
  examples: ["Acme Railways"],
});

const slug = string(
  "The unique and permanent short name: lower-case letters, digits and hyphens.",
  {
    maxLength: 63,
    ruled: SLUG,
    examples: ["acme-railways"],
  },
);

/** An organization as it is stored and answered. */
export const organization = object({
  title: "Organization",
  description: "A tenant. Each stored record belongs to one organization.",
  properties: {
    id: string("The id of the organization, which is its slug."),
    name,
    slug,
    created_at: dateTime("The time of creation."),
    updated_at: dateTime("The time of the last rename."),
  },
});
export type Organization = Infer<typeof organization>;

export const organizationList = object({
  title: "OrganizationList",
  description: "The organizations that the caller may see.",
  properties: {
    organizations: list(
      "The caller's organization, or all organizations for callers of the default organization.",
      organization,
    ),
  },
});

export const organizationCreate = object({
  title: "OrganizationCreate",
  description: "A new organization with its first admin.",
  optional: ["slug"],
  properties: {
    name,
    slug: { ...slug, description: "The default is made from the name." },
    admin_email: string("The first admin's email.", {
      format: "email",
      maxLength: 254,
      ruled: EMAIL,
      examples: ["ada@example.com"],
    }),
    admin_password: string("The first admin's password, 10 to 256 characters.", {
      format: "password",
      maxLength: 1_024,
      ruled: NEW_PASSWORD,
    }),
  },
});

export const organizationChange = object({
  title: "OrganizationChange",
  description: "The organization's new name.",
  properties: { name },
});
