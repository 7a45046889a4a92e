import "../frame.ts";
import type { User } from "../../../users/schema.ts";
import { accountPage, type AccountModel } from "../../pages/access-account.ts";
import type { PageContext } from "../../pages/parts.ts";
import { call, read } from "../api.ts";
import { serveForm } from "../form.ts";
import { contentElement, keepFresh } from "../live.ts";
import { goToSignIn, keepSession, session } from "../session.ts";
import { toast } from "../toast.ts";

const EVERY_MS = 60_000;

async function load(context: PageContext, signal: AbortSignal): Promise<AccountModel> {
  // Without a token the service would refuse to say who that is.
  return { ...context, user: session() ? await read<User>("/auth/me", { signal }) : undefined };
}

keepFresh({ load, render: accountPage, everyMs: EVERY_MS });

serveForm("[data-add=password]", async (data) => {
  const [current, password] = [data.get("current"), data.get("password")];
  if (password !== data.get("again")) throw new Error("The new passwords are not the same");
  const email = session()?.email ?? "";
  await call("PUT", "/auth/password", { body: { current, password } });
  // The token that changed the password ended with the others.
  const body = { email, password };
  const { token } = await call<{ readonly token: string }>("POST", "/auth/login", { body });
  keepSession({ token, email });
  toast("The password is changed");
});

contentElement().addEventListener("click", (event) => {
  if (!(event.target instanceof Element) || !event.target.closest("[data-sign-in]")) return;
  event.preventDefault();
  goToSignIn();
});
