import { NEW_PASSWORD } from "../auth/new-password.ts";
import type { Infer, Schema } from "../core/schema.ts";
import { SLUG } from "./slug.ts";

const name = {
  type: "string",
  maxLength: 256,
  description: "How the organization is called; any text.",
  examples: ["Acme Railways"],
} as const satisfies Schema;

const slug = {
  type: "string",
  maxLength: 63,
  ruled: SLUG,
  description: "Lower-case letters, digits and hyphens; unique, and never changes.",
  examples: ["acme-railways"],
} as const satisfies Schema;

/** An organization as it is stored and answered. */
export const organization = {
  title: "Organization",
  type: "object",
  description: "A tenant: everything that is stored belongs to one.",
  required: ["id", "name", "slug", "created_at", "updated_at"],
  properties: {
    id: { type: "string", description: "The organization's id, which is its slug." },
    name,
    slug,
    created_at: { type: "string", format: "date-time", description: "When it was created." },
    updated_at: { type: "string", format: "date-time", description: "When it was last renamed." },
  },
} as const satisfies Schema;
export type Organization = Infer<typeof organization>;

export const organizationList = {
  title: "OrganizationList",
  type: "object",
  description: "The organizations that the caller may see.",
  required: ["organizations"],
  properties: {
    organizations: {
      type: "array",
      items: organization,
      description: "The caller's own, or every one for callers of the default organization.",
    },
  },
} as const satisfies Schema;

export const organizationCreate = {
  title: "OrganizationCreate",
  type: "object",
  description: "An organization to be created, with its first admin.",
  required: ["name", "admin_email", "admin_password"],
  properties: {
    name,
    slug: { ...slug, description: "Made from the name, and unique, when absent." },
    admin_email: {
      type: "string",
      format: "email",
      maxLength: 254,
      description: "The first admin's email.",
      examples: ["ada@example.com"],
    },
    admin_password: {
      type: "string",
      format: "password",
      maxLength: 1_024,
      ruled: NEW_PASSWORD,
      description: "The first admin's password, 10 to 256 characters.",
    },
  },
} as const satisfies Schema;

export const organizationChange = {
  title: "OrganizationChange",
  type: "object",
  description: "The organization's new name.",
  required: ["name"],
  properties: { name },
} as const satisfies Schema;
