import { pathSegment } from "../../core/path-segment.ts";
import { html, type Html } from "../html.ts";

/** Says what a proof is for, after the link that downloads it. */
export const PROOF_WORDS =
  "that the signed log contains this event. “signalbox verify-proof” checks the file without this server: see docs/proof.md.";

/** The path of an event's proof below the prefix. */
export function proofPath(id: string): string {
  return `/audit/${pathSegment(id)}/proof`;
}

/** The name of the file that a proof is saved as. */
export function proofFile(id: string): string {
  return `${id}.tlog-proof`;
}

/** The download of an event's proof, for readers without modules. */
export function proofPart(prefix: string, id: string): Html {
  return html`<p class="faint small">
    <a href="${prefix}${proofPath(id)}" download="${proofFile(id)}">Proof</a>
    ${PROOF_WORDS}
  </p>`;
}
