/**
 * Checks the log, and adds the download of its proof to the open event. The audit page loads this module beside its own
 * where the log is signed. It makes nodes instead of markup, which only one module of a page may parse.
 */
import { PROOF_WORDS, proofFile, proofPath } from "../../pages/audit-proof.ts";
import { open, reasonOf } from "../api.ts";
import { saveText } from "../downloads.ts";
import { watchLog } from "../log-notice.ts";

/** Fetches a proof with the reader's credential, and saves it. */
async function download(id: string, status: HTMLElement): Promise<void> {
  status.textContent = "…";
  try {
    const proof = await (await open("GET", proofPath(id), { headers: { Accept: "*/*" } })).text();
    saveText(proof, proofFile(id), "application/octet-stream");
    status.textContent = ` ${claimOf(proof)}`;
  } catch (error) {
    status.textContent = ` The proof could not be loaded: ${reasonOf(error)}`;
  }
}

/** Reads the index of a proof file, and the origin and size of its checkpoint, after the empty line. */
function claimOf(proof: string): string {
  const [, index, origin, size] = /^index (\d+)$[^]*?\n\n(.*)\n(\d+)\n/m.exec(proof) ?? [];
  return `Saved: event ${index} of the first ${size} in ${origin}, counted from 0.`;
}

/** Adds the download to the open event, unless it is there. */
function show(): void {
  const place = document.getElementById("event-proof");
  const id = document.getElementById("audit-event")?.dataset["event"];
  if (place === null || id === undefined || place.dataset["event"] === id) return;
  place.dataset["event"] = id;
  const link = document.createElement("a");
  link.href = (document.body.dataset["prefix"] ?? "") + proofPath(id);
  link.textContent = "Proof";
  const status = document.createElement("span");
  status.role = "status";
  link.addEventListener("click", (event) => {
    event.preventDefault();
    void download(id, status);
  });
  const line = document.createElement("p");
  line.className = "faint small";
  line.append(link, ` ${PROOF_WORDS}`, status);
  place.replaceChildren(line);
}

const content = document.getElementById("content");
// Another event may change texts and attributes of the panel alone.
const changes = { childList: true, subtree: true, attributeFilter: ["data-event"] };
if (content) new MutationObserver(show).observe(content, changes);
show();
watchLog("audit");
