import "../frame.ts";
import { account } from "../../pages/access-account.ts";
import { call } from "../api.ts";
import { serveForm } from "../form.ts";
import { keepFresh } from "../live.ts";
import { keepSession, session } from "../session.ts";
import { toast } from "../toast.ts";

keepFresh(account, 60_000);

serveForm("[data-add=password]", async (data) => {
  const [current, password] = [data.get("current"), data.get("password")];
  if (password !== data.get("again")) throw new Error("The new passwords are not the same");
  const email = session()?.email ?? "";
  await call("PUT", "/auth/password", { body: { current, password } });
  // Changing the password ended all tokens, this one too.
  const body = { email, password };
  const { token } = await call<{ readonly token: string }>("POST", "/auth/login", { body });
  keepSession({ token, email });
  toast("The password is changed");
});
