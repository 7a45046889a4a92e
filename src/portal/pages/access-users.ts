import { ROLES, type Role } from "../../core/roles.ts";
import type { User } from "../../users/schema.ts";
import { count } from "../format.ts";
import { html, type Html } from "../html.ts";
import { choice, newPasswordField, option, textField } from "./fields.ts";
import { accessPage, accessTable, addForm, rowButton } from "./access.ts";
import { apiRequest, badge, card, emptyState, type PageContext } from "./parts.ts";
import type { DataPage } from "./source.ts";
import { allowedOrNote, ifAllowed } from "../withheld.ts";

/** The model of the users page. */
export interface UsersModel extends PageContext {
  /** Oldest first. */
  readonly users: readonly User[];
}

/** The page of the users. */
export const users: DataPage<UsersModel> = {
  ...accessPage("users", renderUsers),
  read: async (source, context) => ({ ...context, users: await source.users() }),
};

/** Renders the users and the form that adds one. */
function renderUsers(model: UsersModel): Html {
  const { users } = model;
  const list =
    users.length === 0
      ? noUsers(model)
      : accessTable(["User", "Role", "State"], users, (user) => row(user, model));
  const number = html`<span class="faint small">${count(users.length)} in all</span>`;
  return html`${allowedOrNote(model, "POST /users", "Adding or changing users", newUser())}
  ${card("users-list", "Users", list, number)}`;
}

function newUser(): Html {
  return addForm({
    name: "user",
    title: "New user",
    fields: html`${textField({ id: "user-email", name: "email", label: "Email", type: "email" })}
    ${textField({ id: "user-name", name: "name", label: "Name, if any", isOptional: true, maxLength: 256 })}
    ${roleField("user-role", "viewer")}
    ${newPasswordField("user-password", "password", "First password")}`,
    button: "Add user",
  });
}

/** The field that chooses a role. */
export function roleField(id: string, chosen: Role): Html {
  return choice({
    ...{ id, name: "role", label: "Role" },
    options: ROLES.map((role) => option(role, role, chosen)),
    hint: html`It binds while the service runs with <code>ROLES=enforced</code>: a viewer reads, an
      operator also publishes policies and manages keys and the fleet, an admin does everything.`,
  });
}

function noUsers(model: UsersModel): Html {
  const body = { email: "you@example.com", role: "admin", password: "<at least 10 characters>" };
  const request = apiRequest(model, "person", "POST /users", body);
  return emptyState("No users yet", "An admin can sign in, and add others. From a shell:", request);
}

function row({ id, email, name, role, active }: User, model: UsersModel): Html {
  const isOwn = email === model.email;
  return html`<tr>
    <th scope="row">
      ${name}${isOwn ? html` <span class="faint">(you)</span>` : undefined}
      ${name === email ? undefined : html`<span class="under">${email}</span>`}
    </th>
    <td>${role}</td>
    <td>${active ? badge("active", "ok") : badge("deactivated", "none")}</td>
    <td class="actions">
      ${ifAllowed(model, "PATCH /users/{id}", [
        rowButton("edit", id, "Edit", email),
        rowButton("delete", id, "Delete", email),
      ])}
    </td>
  </tr>`;
}
