import "../frame.ts";
import { finish } from "../../../core/scheduling/work.ts";
import type { Policy } from "../../../policies/schema.ts";
import { DISCARDED_KEY, type DraftNote, type EditorDraft } from "../../editor-draft.ts";
import { html } from "../../html.ts";
import { isAllowed } from "../../withheld.ts";
import {
  beginning,
  changesTitle,
  policyEditor,
  startingText,
  type PolicyEditorModel,
} from "../../pages/policy-editor.ts";
import { renderReplay } from "../../pages/policy-replay.ts";
import { observeNotice, policyChanges } from "../../pages/policy-text.ts";
import { readPolicy } from "../../pages/source.ts";
import { isSignedOut, pageSource, reasonOf } from "../api.ts";
import { draftRules, storedDraft, storeDraft } from "../drafts.ts";
import { addressQuery, pageContext, show } from "../live.ts";
import { morph } from "../morph.ts";
import { goToLine, goToPlace, serveCheck } from "../policy-check.ts";
import { serveEditingKeys } from "../policy-keys.ts";
import { servePaint, type PolicyPaint } from "../policy-paint.ts";
import {
  askToPublish,
  askToStoreAndRollOut,
  askToTakeOver,
  type PublishListener,
} from "../policy-publish.ts";
import { serveReplay } from "../policy-replay.ts";
import { serveSimulator } from "../policy-simulator.ts";
import { showProblem } from "../retry.ts";
import { learnRole } from "../role.ts";
import { toast } from "../toast.ts";
import { restoreTyped } from "../typed.ts";

const PAUSE_MS = 300;

function element<T extends HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (!found) throw new Error(`The editor has no ${id}`);
  return found as T;
}

/** The version that the text began with, and the one that it is meant to replace. */
interface Beginning {
  /** `undefined` for the example. */
  readonly base: Policy | undefined;
  readonly replaces: Policy | undefined;
  readonly notes?: readonly DraftNote[] | undefined;
}

/** Reads the versions that a draft names; those of the address that do not exist any more. */
async function beginningOf(draft: EditorDraft, model: PolicyEditorModel): Promise<Beginning> {
  const source = pageSource();
  const versions = await source.versions();
  const read = async (name: string): Promise<Policy | undefined> =>
    [model.active, model.base].find((known) => known?.version === name) ??
    readPolicy(source, versions, name);
  const [base, replaces] = await Promise.all([read(draft.base), read(draft.replaces)]);
  return { base, replaces, notes: draft.notes };
}

/** Connects the editor: after a short pause its text is kept, checked and compared. */
async function serve(model: PolicyEditorModel, paint: PolicyPaint): Promise<void> {
  const { active } = model;
  const own: Beginning = { base: model.base, replaces: active };
  const area = element<HTMLTextAreaElement>("yaml");
  const discard = element("discard");
  const restore = element("restore");
  // Absent where the reader's role does not include publishing.
  const publish = document.getElementById("publish") as HTMLButtonElement | null;
  const rollOut = document.getElementById("roll-out") as HTMLButtonElement | null;
  let begun = own;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const original = (): string => startingText(begun);
  const draftOf = (): EditorDraft | undefined =>
    area.value === original()
      ? undefined
      : {
          ...{ yaml: area.value, base: begun.base?.version ?? "" },
          replaces: begun.replaces?.version ?? "",
          notes: begun.notes ?? [],
        };
  const isChanged = (): boolean => area.value !== (begun.replaces?.yaml ?? "");
  const showPublish = (): void => {
    const isReady = check.isValid() && isChanged();
    for (const button of [publish, rollOut]) if (button) button.disabled = !isReady;
  };
  const places = { area, list: element("problems"), verdict: element("verdict") };
  const check = serveCheck(places, {
    isChanged,
    onChecked(problems) {
      paint.mark(problems);
      showPublish();
    },
  });
  serveEditingKeys(area, element("words"), async () => {
    const { providers, capabilities } = await pageSource().catalog();
    const ids = (all: readonly { readonly id: string }[]) => all.map(({ id }) => id);
    return { providers: ids(providers), capabilities: ids(capabilities) };
  });
  const simulator = serveSimulator(element<HTMLFormElement>("simulate"), element("decision"), area);
  const replay = serveReplay(element("replay"), area, (report) =>
    renderReplay(report, model.active !== undefined),
  );
  const showButtons = (): void => {
    discard.hidden = draftOf() === undefined;
    restore.hidden = storedDraft(DISCARDED_KEY) === undefined;
    showPublish();
  };
  const follow = (): void => {
    const { replaces } = begun;
    const before = { name: replaces?.version ?? "nothing", yaml: replaces?.yaml ?? "" };
    const changes = finish(policyChanges(before, { name: "this text", yaml: area.value }));
    morph(element("changes"), changes.shown);
    element("changes-words").textContent = changes.words;
    morph(element("observes"), html`${observeNotice(area.value, "This text")}`);
    void check.run();
    simulator.runAgain();
  };
  /** Shows a text and what it began with. */
  const begin = (from: Beginning, text?: string): void => {
    begun = from;
    area.value = text ?? original();
    storeDraft(draftOf());
    morph(element("begins"), beginning(from.base?.version));
    morph(element("changes-title"), changesTitle(from.replaces?.version));
    showNotices();
    showNotes(from.notes ?? []);
    showButtons();
    paint.draw();
    follow();
  };
  const resume = (draft: EditorDraft): Promise<void> =>
    beginningOf(draft, model).then((from) => begin(from, draft.yaml), complain);
  const showNotices = (): void => {
    const isStale = begun.replaces?.version !== active?.version;
    const wanted = addressQuery(policyEditor.parameters).from;
    const isOther =
      wanted !== undefined && model.base && model.base.version !== begun.base?.version;
    const other = html`<p class="notice">
      This is your draft.
      <button type="button" id="begin-anew">Begin with ${wanted} instead</button>
    </p>`;
    const stale = html`<p class="notice">
      <b class="mono">${active?.version ?? "nothing"}</b> is active now, and your draft was to
      replace <b class="mono">${begun.replaces?.version ?? "nothing"}</b>.
      <button type="button" id="take-over">Show both changes…</button>
    </p>`;
    const notices = html`${isOther ? other : undefined}${isStale ? stale : undefined}`;
    morph(element("draft-notice"), notices);
  };
  const showNotes = (notes: readonly DraftNote[]): void => {
    const list = element("notes");
    list.hidden = notes.length === 0;
    morph(
      list,
      html`${notes.map(
        ({ message, line }, i) =>
          html`<li>
            <button type="button" class="quiet" data-note="${i}">Line ${line}</button>
            <span>${message}</span>
          </li>`,
      )}`,
    );
  };
  const discardDraft = (next: Beginning): void => {
    const draft = draftOf();
    if (draft) storeDraft(draft, DISCARDED_KEY);
    begin(next);
  };
  const listener: PublishListener = {
    onPublished() {
      storeDraft(undefined);
      storeDraft(undefined, DISCARDED_KEY);
    },
    onRefused: (report, words) => replay.show(report, words),
    onTaken: (yaml, now) => {
      Object.assign(model, { active: now });
      begin({ ...begun, base: now, replaces: now }, yaml);
    },
  };

  area.addEventListener("input", () => {
    storeDraft(draftOf());
    check.expire();
    showButtons();
    paint.draw();
    clearTimeout(timer);
    timer = setTimeout(follow, PAUSE_MS);
  });
  discard.addEventListener("click", () => {
    discardDraft(own);
    area.focus();
  });
  restore.addEventListener("click", () => {
    const draft = storedDraft(DISCARDED_KEY);
    if (!draft) return;
    storeDraft(draftOf(), DISCARDED_KEY); // nothing is lost: they change places
    void resume(draft);
  });
  element("draft-notice").addEventListener("click", ({ target }) => {
    const id = target instanceof Element ? target.id : "";
    if (id === "begin-anew") discardDraft(own);
    if (id === "take-over")
      askToTakeOver({ yaml: area.value, replaces: begun.replaces }, model.active, listener);
  });
  element("notes").addEventListener("click", ({ target }) => {
    const at = target instanceof Element ? target.getAttribute("data-note") : null;
    const note = at === null ? undefined : begun.notes?.[Number(at)];
    if (note) goToLine(area, note.line, note.text);
  });
  publish?.addEventListener("click", () => {
    askToPublish({ yaml: area.value, replaces: begun.replaces }, listener).catch(complain);
  });

  rollOut?.addEventListener("click", () => {
    askToStoreAndRollOut({ yaml: area.value, replaces: begun.replaces }, listener).catch(complain);
  });

  const typed = area.value === area.defaultValue ? undefined : area.value; // before this module was loaded
  const draft = storedDraft();
  if (typed !== undefined && draft) storeDraft(draft, DISCARDED_KEY);
  if (typed !== undefined || !draft) begin(own, typed);
  else begin(await beginningOf(draft, model), draft.yaml);
  await draftRules(() => {
    const drafted = storedDraft();
    if (drafted) void resume(drafted);
  }).catch(complain);
}

function paintText(): PolicyPaint {
  const area = element<HTMLTextAreaElement>("yaml");
  const paint = servePaint(area, element("paint"), element("gutter"), ({ line, column }) =>
    goToPlace(area, line, column),
  );
  paint.draw();
  return paint;
}

function complain(error: unknown): void {
  if (!isSignedOut(error)) toast(reasonOf(error));
}

async function start(): Promise<void> {
  const isFilled = document.getElementById("yaml") !== null;
  // The text of the server's page has its colours at once, not only when its version is read again.
  let paint = isFilled ? paintText() : undefined;
  await learnRole();
  const query = addressQuery(policyEditor.parameters);
  const model = await policyEditor.read(pageSource(), pageContext(), query);
  // The server rendered the page without knowing the reader and their role.
  if (!isFilled || !isAllowed(model, "POST /policies")) {
    show(policyEditor.render(model));
    paint = undefined;
  }
  restoreTyped();
  await serve(model, paint ?? paintText());
}

start().catch((error: unknown) => {
  if (!isSignedOut(error)) showProblem(`${reasonOf(error)}. Load the page again.`);
});
