import "../frame.ts";
import type { Organization } from "../../../organizations/schema.ts";
import { textField } from "../../pages/fields.ts";
import { organizations, type OrganizationsModel } from "../../pages/access-organizations.ts";
import { call } from "../api.ts";
import { ask } from "../dialog.ts";
import { serveButtons, serveForm, textOf } from "../form.ts";
import { keepFresh } from "../live.ts";
import { toast } from "../toast.ts";

/** The last model that was read. */
let known: OrganizationsModel | undefined;

const page = keepFresh(
  { ...organizations, render: (model) => organizations.render((known = model)) },
  60_000,
);

serveForm("[data-add=organization]", async (data) => {
  const body = {
    name: textOf(data, "name"),
    slug: textOf(data, "slug"),
    admin_email: textOf(data, "admin_email"),
    admin_password: data.get("admin_password"),
  };
  const { name } = await call<Organization>("POST", "/organizations", { body });
  toast(`${name} is created, and its admin can sign in`);
  await page.refresh();
});

serveButtons("rename", (id) => void askToRename(id));

async function askToRename(id: string): Promise<void> {
  if (!known) await page.refresh();
  const organization = known?.organizations.find((one) => one.id === id);
  if (!organization) return toast("This organization does not exist any more");
  ask({
    title: "Rename the organization",
    body: textField({
      id: "rename",
      name: "name",
      label: "Name",
      value: organization.name,
      maxLength: 256,
      hint: "Its id stays",
    }),
    confirm: "Rename",
    async run(data) {
      const body = { name: textOf(data, "name") };
      await call("PATCH", `/organizations/${encodeURIComponent(id)}`, { body });
      await page.refresh();
    },
  });
}
