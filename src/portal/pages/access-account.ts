import type { User } from "../../users/schema.ts";
import { ACCESS_PATH } from "../access-tabs.ts";
import { html, type Html } from "../html.ts";
import { accessFrame, addForm, newPasswordField, textField } from "./access.ts";
import type { PageContext } from "./parts.ts";
import type { DataPage } from "./source.ts";

/** The model of the account page. */
export interface AccountModel extends PageContext {
  /** The signed-in user; `undefined` without one. */
  readonly user: User | undefined;
}

/** The page of the reader's own account. */
export const account: DataPage<AccountModel> = {
  path: ACCESS_PATH,
  title: "Account",
  module: "access-account",
  parameters: {},
  isManagement: true,
  read: async (source, context) => ({
    ...context,
    // Without a token the API would refuse the request.
    user: context.email === undefined ? undefined : await source.user(),
  }),
  render: renderAccount,
};

/** Renders the signed-in user and the form of their password. */
export function renderAccount(model: AccountModel): Html {
  return accessFrame("account", model, model.user ? facts(model.user) : signedOut());
}

function facts({ email, name, role, organization_id: organization }: User): Html {
  return html`<section class="card" aria-labelledby="account">
      <header><h2 id="account">Signed in</h2></header>
      <dl class="facts inside">
        <dt>Name</dt>
        <dd>${name}</dd>
        <dt>Email</dt>
        <dd>${email}</dd>
        <dt>Role</dt>
        <dd>${role}</dd>
        <dt>Organization</dt>
        <dd class="mono">${organization}</dd>
      </dl>
    </section>
    ${addForm({
      name: "password",
      title: "Change your password",
      hint: html`<p class="faint">
        It ends every other session of yours: other tabs and tools have to sign in again.
      </p>`,
      fields: html`${textField({ id: "password-current", name: "current", label: "Current password", type: "password", autocomplete: "current-password" })}
      ${newPasswordField("password-new", "password", "New password")}
      ${textField({ id: "password-again", name: "again", label: "New password again", type: "password", autocomplete: "new-password" })}`,
      button: "Change password",
    })}`;
}

function signedOut(): Html {
  return html`<section class="card" aria-labelledby="account">
    <header><h2 id="account">You are not signed in</h2></header>
    <div class="inside">
      <p class="faint">
        Your changes are recorded without a name. Sign in to make them in your name and in your own
        organization.
      </p>
      <p><a class="button primary" href="/portal/sign-in" data-sign-in>Sign in</a></p>
    </div>
  </section>`;
}
