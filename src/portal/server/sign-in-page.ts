import { html, type Html } from "../html.ts";
import { shellLines } from "../pages/parts.ts";
import { textField } from "../pages/fields.ts";

const FIRST_ADMIN = `ADMIN_EMAIL=you@example.com \\
ADMIN_PASSWORD='at least 10 characters' \\
npm start`;

/** The model of the sign-in page. */
export interface SignInModel {
  /** Whether any user exists. */
  readonly hasUsers: boolean;
  /** Whether this is an open demo, whose visitors see every page except Access. */
  readonly isDemo: boolean;
}

/** Renders the sign-in form, and how to create the first admin. */
export function signInPage({ hasUsers, isDemo }: SignInModel): Html {
  return html`<div class="sign-in">
    <h1>Sign in</h1>
    <p class="notice" id="sign-in-ended" role="status" hidden>
      Your session has ended. Sign in again to go on where you were.
    </p>
    ${isDemo ? demoVisitor() : hasUsers ? undefined : firstAdmin()}
    <noscript>
      <p class="notice">
        Signing in needs JavaScript. Allow it for this address in the browser's settings, and load
        the page again. The <a href="/portal/api">API reference</a> works without.
      </p>
    </noscript>
    <form id="sign-in" class="needs-modules" method="post">
      ${textField({ id: "email", name: "email", label: "Email", type: "email", autocomplete: "username" })}
      ${textField({ id: "password", name: "password", label: "Password", type: "password", autocomplete: "current-password" })}
      <p class="error" role="alert"></p>
      <button class="primary" type="submit" data-busy="Signing in…">Sign in</button>
    </form>
  </div>`;
}

function demoVisitor(): Html {
  return html`<p class="notice">
    Access belongs to the operator of this demo. Everything else is open:
    <a href="/">go to the overview</a>.
  </p>`;
}

function firstAdmin(): Html {
  return html`<section class="notice" aria-labelledby="first-admin">
    <h2 id="first-admin">There is no user yet</h2>
    <p>
      Start the service once with <code>ADMIN_EMAIL</code> and <code>ADMIN_PASSWORD</code>, and it
      creates that admin; they change nothing later. On the machine itself
      <code>signalbox user add</code> does the same while the service runs.
    </p>
    ${shellLines(FIRST_ADMIN)}
  </section>`;
}
