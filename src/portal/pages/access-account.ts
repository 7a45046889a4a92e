import type { User } from "../../users/schema.ts";
import { html, type Html } from "../html.ts";
import { newPasswordField, textField } from "./fields.ts";
import { accessPage, addForm } from "./access.ts";
import { card, facts, type PageContext } from "./parts.ts";
import type { DataPage } from "./source.ts";

/** The model of the account page. */
export interface AccountModel extends PageContext {
  /** The signed-in user; `undefined` without one. */
  readonly user: User | undefined;
}

/** The page of the reader's own account. */
export const account: DataPage<AccountModel> = {
  ...accessPage("account", ({ user }: AccountModel) => (user ? signedIn(user) : signedOut())),
  read: async (source, context) => ({
    ...context,
    // Without a token the API would refuse the request.
    user: context.email === undefined ? undefined : await source.user(),
  }),
};

/** Renders the signed-in user and the form of their password. */
function signedIn({ email, name, role, organization_id: organization }: User): Html {
  const about = facts([
    ["Name", name],
    ["Email", email],
    ["Role", role],
    ["Organization", html`<span class="mono">${organization}</span>`],
  ]);
  return html`${card("account", "Signed in", about)}
  ${addForm({
    name: "password",
    title: "Change your password",
    hint: html`<p class="faint">
      It ends every other session of yours: other browsers and tools have to sign in again.
    </p>`,
    fields: html`${textField({ id: "password-current", name: "current", label: "Current password", type: "password", autocomplete: "current-password" })}
    ${newPasswordField("password-new", "password", "New password")}
    ${textField({ id: "password-again", name: "again", label: "New password again", type: "password", autocomplete: "new-password" })}`,
    button: "Change password",
  })}`;
}

function signedOut(): Html {
  return card(
    "account",
    "You are not signed in",
    html`<div class="inside">
      <p class="faint">
        Your changes are recorded without a name. Sign in to make them in your name and in your own
        organization.
      </p>
      <p><a class="button primary" href="/portal/sign-in#/portal/access/account">Sign in</a></p>
    </div>`,
  );
}
