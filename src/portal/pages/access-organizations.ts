import { DEFAULT_ORGANIZATION } from "../../core/caller.ts";
import type { Organization } from "../../organizations/schema.ts";
import { count } from "../format.ts";
import { html, type Html } from "../html.ts";
import { newPasswordField, textField } from "./fields.ts";
import { accessPage, accessTable, addForm, rowButton } from "./access.ts";
import { card, timeAgo, type PageContext } from "./parts.ts";
import type { DataPage } from "./source.ts";
import { allowedOrNote, isAllowed } from "../withheld.ts";

/** The model of the organizations page. */
export interface OrganizationsModel extends PageContext {
  /** The organizations that the reader may see, oldest first. */
  readonly organizations: readonly Organization[];
}

/** The page of the organizations. */
export const organizations: DataPage<OrganizationsModel> = {
  ...accessPage("organizations", renderOrganizations),
  read: async (source, context) => ({ ...context, organizations: await source.organizations() }),
};

/** Renders the organizations, which are the tenants of the service. */
function renderOrganizations(model: OrganizationsModel): Html {
  const { organizations } = model;
  // The users of the default organization see and create all organizations.
  const isOperator = organizations.some(({ id }) => id === DEFAULT_ORGANIZATION);
  const ownId = isOperator ? DEFAULT_ORGANIZATION : organizations[0]?.id;
  const form = isOperator
    ? allowedOrNote(model, "POST /organizations", "Creating an organization", newOrganization())
    : undefined;
  const list = accessTable(["Name", "Id", "Created", "Changed"], organizations, (one) =>
    row(one, model, one.id === ownId),
  );
  const number = isOperator ? `${count(organizations.length)} in all` : "Yours";
  const aside = html`<span class="faint small">${number}</span>`;
  return html`${form} ${card("organizations-list", "Organizations", list, aside)}`;
}

function newOrganization(): Html {
  return addForm({
    name: "organization",
    title: "New organization",
    hint: html`<p class="faint">
      It keeps policies, events, runtimes, keys and users of its own, which no other organization
      sees. Its first admin signs in and adds the others.
    </p>`,
    fields: html`${textField({ id: "organization-name", name: "name", label: "Name", placeholder: "Acme Railways", maxLength: 256 })}
    ${textField({ id: "organization-slug", name: "slug", label: "Id, if not made of the name", placeholder: "acme-railways", isOptional: true, maxLength: 63 })}
    ${textField({ id: "organization-email", name: "admin_email", label: "First admin's email", type: "email" })}
    ${newPasswordField("organization-password", "admin_password", "First admin's password")}`,
    button: "Create organization",
  });
}

function row(organization: Organization, model: OrganizationsModel, isOwn: boolean): Html {
  const { id, name, created_at: created, updated_at: updated } = organization;
  return html`<tr>
    <th scope="row">${name}${isOwn ? html` <span class="faint">(yours)</span>` : undefined}</th>
    <td class="mono" data-label="Id">${id}</td>
    <td data-label="Created">${timeAgo(created, model.now)}</td>
    <td data-label="Changed">${timeAgo(updated, model.now)}</td>
    <td class="actions">
      ${
        isOwn && isAllowed(model, "PATCH /organizations/{id}")
          ? rowButton("rename", id, "Rename", name)
          : undefined
      }
    </td>
  </tr>`;
}
