import "../frame.ts";
import { call, reasonOf } from "../api.ts";
import { goBack, keepSession, takeEnded } from "../session.ts";

interface Login {
  readonly token: string;
  readonly user: { readonly email: string };
}

const form = document.getElementById("sign-in");
const failure = document.getElementById("sign-in-error");

async function signIn(data: FormData): Promise<void> {
  const body = { email: data.get("email"), password: data.get("password") };
  const { token, user } = await call<Login>("POST", "/auth/login", { body });
  keepSession({ token, email: user.email });
  goBack();
}

if (takeEnded()) document.getElementById("sign-in-ended")?.removeAttribute("hidden");
if (form instanceof HTMLFormElement) {
  const button = form.querySelector("button");
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (button) button.disabled = true;
    if (failure) failure.textContent = "";
    signIn(new FormData(form))
      .catch((error: unknown) => {
        if (failure) failure.textContent = reasonOf(error);
      })
      .finally(() => {
        if (button) button.disabled = false;
      });
  });
  document.getElementById("email")?.focus();
}
