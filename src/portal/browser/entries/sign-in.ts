import "../frame.ts";
import { call, reasonOf } from "../api.ts";
import { sendOnce } from "../send-once.ts";
import { goBack, keepSession, session, takeEnded } from "../session.ts";

interface Login {
  readonly token: string;
  readonly user: { readonly email: string };
}

const form = document.getElementById("sign-in");

/** Signs in and returns to the previous page. Never settles, so that the button stays busy until then. */
async function signIn(data: FormData): Promise<void> {
  const body = { email: data.get("email"), password: data.get("password") };
  const { token, user } = await call<Login>("POST", "/auth/login", { body });
  keepSession({ token, email: user.email });
  goBack();
  return new Promise(() => {});
}

if (session()) goBack();
if (takeEnded()) document.getElementById("sign-in-ended")?.removeAttribute("hidden");
if (form instanceof HTMLFormElement) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void sendOnce(form, () =>
      signIn(new FormData(form)).catch((error: unknown) => {
        form.querySelector<HTMLInputElement>("#password")?.select();
        throw new Error(reasonOf(error)); // as a plain error: a 401 must not lead to the sign-in page here
      }),
    );
  });
  document.getElementById("email")?.focus();
}
