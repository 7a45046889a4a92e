/**
 * Tells the reader whether a signed log is the one that this browser has seen before: a quiet line at the end of the
 * page if it is, and a notice at its top if not. It makes nodes instead of markup, which only one module of a page may
 * parse.
 */
import { counted, exactly } from "../format.ts";
import { reasonOf } from "./api.ts";
import { checkpointIn } from "./checkpoints.ts";
import { serviceNow } from "./clock.ts";
import { saveText } from "./downloads.ts";
import {
  accept,
  checkLog,
  type LogCheck,
  type LogName,
  type LogProblem,
  type SeenCheckpoint,
} from "./log-check.ts";

const EVERY_MS = 300_000;

/** Checks a log now, and every five minutes while the page is visible. */
export function watchLog(log: LogName): void {
  const line = made("p", "");
  line.id = "log-check";
  document.querySelector(".foot")?.append(line);
  let notice: HTMLElement | undefined;
  const check = async (): Promise<void> => {
    try {
      const found = await checkLog(log, serviceNow());
      line.textContent = quietWords(log, found);
      if (["right", "empty", "insecure"].includes(found.state)) {
        notice?.remove();
        notice = undefined;
      } else if (notice === undefined) {
        // Later checks keep it, with what the reader has opened in it.
        notice = noticeOf(log, found as LogProblem, () => void check());
        showAbove(notice);
      }
    } catch (error) {
      line.textContent = `The ${log} log could not be checked: ${reasonOf(error)}`;
    }
  };
  setInterval(() => document.visibilityState === "visible" && void check(), EVERY_MS);
  void check();
}

/**
 * Shows a notice above the content of the page. The content is made anew whenever it is read, so both stand in a box,
 * which is made only now: a place for the notice on every page would count in the weight of pages that need none.
 */
function showAbove(notice: HTMLElement): void {
  const content = document.getElementById("content");
  let box = content?.parentElement;
  if (!content || !box) return;
  if (box === document.body) {
    box = document.createElement("div");
    box.style.gridArea = "main";
    box.style.minWidth = "0";
    content.before(box);
    box.append(content);
  }
  notice.style.margin = "1.5rem clamp(1rem, 3vw, 2.25rem) 0";
  content.before(notice);
}

function quietWords(log: LogName, found: LogCheck): string {
  if (found.state === "insecure") {
    return `The signed ${log} log is not checked here: browsers do that only over HTTPS.`;
  }
  if (found.state !== "right") return "";
  const { present, before, isSigned } = found;
  const how = before
    ? `, checked against the checkpoint of ${exactly(before.at)}.`
    : ". This browser has kept the checkpoint, and checks the log from now on.";
  const signature = isSigned
    ? ""
    : " The signature was not checked: this browser does not know it.";
  return `Signed ${log} log: ${sizeIn(log, present)}${how}${signature}`;
}

function sizeIn(log: LogName, { note }: SeenCheckpoint): string {
  const { size = 0 } = checkpointIn(note) ?? {};
  return log === "audit" ? counted(size, "event") : counted(size, "entry", "entries");
}

/** The notice about a problem. */
function noticeOf(log: LogName, problem: LogProblem, again: () => void): HTMLElement {
  const { before, present } = problem;
  const notice = document.createElement("div");
  notice.className = "notice bad";
  notice.role = "alert";
  const { title, facts, advice } = wordsFor(log, problem);
  notice.append(made("h2", title), made("p", facts), made("p", advice));
  const details = document.createElement("details");
  details.append(made("summary", "The checkpoints and public keys"));
  if (before) details.append(...shown(`Seen on ${exactly(before.at)}`, before));
  if (present) details.append(...shown("Now", present));
  notice.append(details);
  if (before) {
    // A file for `signalbox verify --checkpoint`.
    const save = (): void => saveText(before.note, "checkpoint.txt", "text/plain");
    notice.append(button("Save the checkpoint that was seen before", save));
  }
  if (before && present && problem.state !== "bad signature") {
    const forget = (): void => {
      accept(present);
      again();
    };
    notice.append(" ", button("Compare with the present log from now on", forget));
  }
  return notice;
}

interface NoticeWords {
  readonly title: string;
  readonly facts: string;
  readonly advice: string;
}

function wordsFor(log: LogName, { state, before, present }: LogProblem): NoticeWords {
  if (state === "bad signature" || before === undefined) {
    return {
      title: `The signature of the ${log} log is wrong`,
      facts: "Its checkpoint is not signed with the public key that the service names.",
      advice:
        "The stored checkpoints may have been changed. Check a backup with “signalbox verify”, as docs/proof.md describes, with a public key that was kept elsewhere.",
    };
  }
  const [size, seenAt] = [sizeIn(log, before), exactly(before.at)];
  if (state === "other key") {
    return {
      title: `The ${log} log is signed with another key than before`,
      facts: `The ${size} that it had on ${seenAt} are unchanged, but the earlier key did not sign the change of the key.`,
      advice:
        "Ask those who run the service whether they changed the key, and compare the present public key with the one that they name. If they did not, another person can sign in their place.",
    };
  }
  const was = `On ${seenAt} it had ${size}.`;
  const isShorter =
    present === undefined ||
    (checkpointIn(present.note)?.size ?? 0) < (checkpointIn(before.note)?.size ?? 0);
  return {
    title: `The ${log} log is not the one that this browser has seen before`,
    facts: isShorter
      ? `${was} Now it has ${present ? sizeIn(log, present) : "none"}: some were removed, or an older copy of the data was put in place.`
      : `${was} They are not those that it has now: some were changed, removed or added.`,
    advice:
      "Ask those who run the service whether they restored a backup: it lacks what was stored after it. If they did not, take it as tampering: save the checkpoint, copy the data before anything else changes, and check the copy with “signalbox verify --checkpoint”, as docs/proof.md describes. This browser goes on comparing with the checkpoint that it has kept.",
  };
}

function made(name: string, text: string): HTMLElement {
  const element = document.createElement(name);
  element.textContent = text;
  return element;
}

function button(text: string, run: () => void): HTMLButtonElement {
  const element = document.createElement("button");
  element.type = "button";
  element.textContent = text;
  element.addEventListener("click", run);
  return element;
}

/** A checkpoint with its public key, as text. */
function shown(title: string, { note, vkey }: SeenCheckpoint): readonly HTMLElement[] {
  const text = made("pre", `${vkey}\n\n${note}`);
  text.tabIndex = 0;
  text.ariaLabel = title;
  return [made("p", title), text];
}
