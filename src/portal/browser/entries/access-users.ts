import "../frame.ts";
import type { User } from "../../../users/schema.ts";
import { html } from "../../html.ts";
import { textField } from "../../pages/fields.ts";
import { roleField, users } from "../../pages/access-users.ts";
import { call, read } from "../api.ts";
import { ask } from "../dialog.ts";
import { serveButtons, serveForm, textOf } from "../form.ts";
import { keepFresh } from "../live.ts";
import { session } from "../session.ts";
import { toast } from "../toast.ts";

const page = keepFresh(users, 30_000);

serveForm("[data-add=user]", async (data) => {
  const body = {
    email: textOf(data, "email"),
    name: textOf(data, "name"),
    role: textOf(data, "role"),
    password: data.get("password"),
  };
  const { email } = await call<User>("POST", "/users", { body });
  toast(`${email} can sign in`);
  await page.refresh();
});

serveButtons("edit", (id) => void withUser(id, askToEdit));
serveButtons("delete", (id) => void withUser(id, askToDelete));

/** Reads the current state of a user and passes it on to a dialog. */
async function withUser(id: string, then: (user: User) => void): Promise<void> {
  try {
    then(await read<User>(pathOf(id)));
  } catch (error) {
    toast(error instanceof Error ? error.message : String(error));
    await page.refresh();
  }
}

function pathOf(id: string): string {
  return `/users/${encodeURIComponent(id)}`;
}

/** Opens the dialog that edits a user. Users cannot change their own role, and their password on the account page only. */
function askToEdit(user: User): void {
  const isOwn = user.email === session()?.email;
  ask({
    title: html`Edit ${user.email}`,
    body: html`${textField({ id: "edit-name", name: "name", label: "Name", value: user.name, maxLength: 256 })}
      ${isOwn ? undefined : roleField("edit-role", user.role)}
      <div class="field">
        <label class="check">
          <input type="checkbox" name="active" ${user.active ? html` checked` : undefined} />
          Can sign in and use tokens
        </label>
      </div>
      ${
        isOwn
          ? undefined
          : textField({
              id: "edit-password",
              name: "password",
              label: "New password",
              type: "password",
              isOptional: true,
              autocomplete: "new-password",
              hint: "Left empty it stays. A new one ends the user's sessions.",
            })
      }`,
    confirm: "Save",
    async run(data) {
      const role = data.get("role") ?? undefined;
      const password = data.get("password") || undefined;
      const body = { name: textOf(data, "name"), role, active: data.has("active"), password };
      await call("PATCH", pathOf(user.id), { body });
      toast(`${user.email} is changed`);
      await page.refresh();
    },
  });
}

function askToDelete(user: User): void {
  ask({
    title: html`Delete ${user.email}?`,
    body: html`<p>
      Their tokens end at once. Their past actions stay in the activity under their email.
      Deactivate a user who may come back.
    </p>`,
    confirm: "Delete",
    isDangerous: true,
    async run() {
      await call("DELETE", pathOf(user.id));
      toast(`${user.email} is deleted`);
      await page.refresh();
    },
  });
}
