import "../frame.ts";
import { finish } from "../../../core/work.ts";
import type { Policy } from "../../../policies/schema.ts";
import { DRAFT_KEY } from "../../handover.ts";
import { html } from "../../html.ts";
import { policyLink } from "../../page-link.ts";
import { isAllowed } from "../../withheld.ts";
import { policyEditor, startingText, type PolicyEditorModel } from "../../pages/policy-editor.ts";
import { policyChanges } from "../../pages/policy-text.ts";
import { call, isSignedOut, pageSource, reasonOf } from "../api.ts";
import { ask } from "../dialog.ts";
import { addressQuery, pageContext, show, showProblem } from "../live.ts";
import { morph } from "../morph.ts";
import { serveCheck, type Check } from "../policy-check.ts";
import { serveSimulator } from "../policy-simulator.ts";
import { learnRole } from "../role.ts";
import { store, stored } from "../storage.ts";
import { textField } from "../../pages/fields.ts";

const PAUSE_MS = 300;

function element<T extends HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (!found) throw new Error(`The editor has no ${id}`);
  return found as T;
}

function showChanges(active: Policy | undefined, yaml: string): void {
  const before = {
    name: active ? `${active.version} (active)` : "nothing",
    yaml: active?.yaml ?? "",
  };
  const { shown, words } = finish(policyChanges(before, { name: "this text", yaml }));
  morph(element("changes"), shown);
  element("changes-words").textContent = words;
}

function askToPublish(active: Policy | undefined, yaml: string): void {
  const before = { name: active?.version ?? "nothing", yaml: active?.yaml ?? "" };
  const changes = finish(policyChanges(before, { name: "this text", yaml }));
  ask({
    title: "Publish and activate",
    body: html`<p>
        ${
          active
            ? html`Runtimes will be given this text instead of
                <b class="mono">${active.version}</b>:`
            : "Runtimes will be given this text:"
        }
        ${changes.words}.
      </p>
      <div class="two">
        ${textField({ id: "version", name: "version", label: "Version name", placeholder: "made from the time", isOptional: true, maxLength: 128 })}
        ${textField({ id: "description", name: "description", label: "What it is about", isOptional: true, maxLength: 4096 })}
      </div>
      ${changes.shown}`,
    confirm: "Publish and activate",
    isWide: true,
    async run(form) {
      const { version } = await call<Policy>("POST", "/policies", {
        body: {
          yaml,
          version: String(form.get("version")),
          description: String(form.get("description")),
          ...(active && { name: active.name }),
        },
      });
      store(DRAFT_KEY, undefined);
      location.assign(policyLink(version));
    },
  });
}

/** Connects the editor: after a short pause its text is kept, checked and compared. */
function serve(model: PolicyEditorModel): void {
  const { active } = model;
  const area = element<HTMLTextAreaElement>("yaml");
  const original = startingText(model);
  const discard = element("discard");
  let timer: ReturnType<typeof setTimeout> | undefined;
  const check: Check = serveCheck(area, element("gutter"), element("problems"), element("verdict"));
  const simulator = serveSimulator(element<HTMLFormElement>("simulate"), element("decision"), area);
  const follow = (): void => {
    showChanges(active, area.value);
    void check.run();
    simulator.runAgain();
  };
  const begin = (text: string): void => {
    area.value = text;
    discard.hidden = text === original;
    check.number();
    follow();
  };
  area.addEventListener("input", () => {
    store(DRAFT_KEY, area.value === original ? undefined : area.value);
    discard.hidden = area.value === original;
    check.number();
    clearTimeout(timer);
    timer = setTimeout(follow, PAUSE_MS);
  });
  discard.addEventListener("click", () => {
    store(DRAFT_KEY, undefined);
    begin(original);
    area.focus();
  });
  // The button is absent where the reader's role does not include publishing.
  document
    .getElementById("publish")
    ?.addEventListener("click", () => askToPublish(active, area.value));
  const wasTypedIn = area.value !== area.defaultValue; // before this module was loaded
  if (wasTypedIn) store(DRAFT_KEY, area.value);
  begin(stored(DRAFT_KEY) ?? original);
}

async function start(): Promise<void> {
  const isFilled = document.getElementById("yaml") !== null;
  await learnRole();
  const query = addressQuery(policyEditor.parameters);
  const model = await policyEditor.read(pageSource(), pageContext(), query);
  // The server rendered the page without knowing the reader and their role.
  if (!isFilled || !isAllowed(model, "POST /policies")) show(policyEditor.render(model));
  serve(model);
}

start().catch((error: unknown) => {
  if (!isSignedOut(error)) showProblem(`${reasonOf(error)}. Load the page again.`);
});
