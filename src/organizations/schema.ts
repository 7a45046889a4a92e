import { NEW_PASSWORD } from "../auth/new-password.ts";
import { dateTime, list, object, string } from "../core/schema-parts.ts";
import type { Infer } from "../core/schema.ts";
import { SLUG } from "./slug.ts";

const name = string("How the organization is called; any text.", {
  maxLength: 256,
  examples: ["Acme Railways"],
});

const slug = string("Lower-case letters, digits and hyphens; unique, and never changes.", {
  maxLength: 63,
  ruled: SLUG,
  examples: ["acme-railways"],
});

/** An organization as it is stored and answered. */
export const organization = object({
  title: "Organization",
  description: "A tenant: everything that is stored belongs to one.",
  properties: {
    id: string("The organization's id, which is its slug."),
    name,
    slug,
    created_at: dateTime("When it was created."),
    updated_at: dateTime("When it was last renamed."),
  },
});
export type Organization = Infer<typeof organization>;

export const organizationList = object({
  title: "OrganizationList",
  description: "The organizations that the caller may see.",
  properties: {
    organizations: list(
      "The caller's own, or every one for callers of the default organization.",
      organization,
    ),
  },
});

export const organizationCreate = object({
  title: "OrganizationCreate",
  description: "An organization to be created, with its first admin.",
  optional: ["slug"],
  properties: {
    name,
    slug: { ...slug, description: "Made from the name, and unique, when absent." },
    admin_email: string("The first admin's email.", {
      format: "email",
      maxLength: 254,
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
