/** A witness of C2SP tlog-witness, which signs a checkpoint only if a proof shows that the log just grew. */
import { checkpointOf, parseSize } from "../proof/checkpoint.ts";
import { postNote, type NoteAnswer } from "./post-note.ts";

/** The hashes that show that a log of the second size begins with the events of the first; `undefined` if it is shorter. */
export type ProveGrowth = (
  origin: string,
  from: number,
  to: number,
) => Promise<readonly Buffer[] | undefined>;

/** Whether a URL is that of the witness protocol. */
export function isWitness(url: string): boolean {
  return new URL(url).pathname.endsWith("/add-checkpoint");
}

/** The witness at a URL, and the sizes of the logs that it has signed. */
export class Witness {
  readonly #url: string;
  readonly #prove: ProveGrowth;
  /** By the name of the log. What is missing here is told by the witness. */
  readonly #sizes = new Map<string, number>();

  constructor(url: string, prove: ProveGrowth) {
    this.#url = url;
    this.#prove = prove;
  }

  /** Posts a checkpoint with the proof that the witness needs; twice if the witness has another size than thought. */
  async post(note: string, signal: AbortSignal): Promise<NoteAnswer> {
    const { origin, size } = checkpointOf(note);
    let old = this.#sizes.get(origin) ?? 0;
    for (let isSecond = false; ; isSecond = true) {
      if (old > size) {
        // Another server may have sent a newer checkpoint meanwhile.
        if (await this.#prove(origin, size, old)) return { status: 200, text: "" };
        this.#sizes.delete(origin); // the witness may have been wrong, and tells it again
        const problem = `it has signed ${old} events of the log, which has ${size}: the log was reset to an earlier state`;
        return { status: 409, text: "", problem };
      }
      const hashes = await this.#prove(origin, old, size);
      if (hashes === undefined) {
        return { status: 409, text: "", problem: "this server has no proof for the log" };
      }
      const proof = hashes.map((hash) => `${hash.toString("base64")}\n`).join("");
      const answer = await postNote(this.#url, `old ${old}\n${proof}\n${note}`, signal);
      if (answer.status < 300) this.#sizes.set(origin, size);
      const known = answer.status === 409 ? parseSize(answer.text.trim()) : undefined;
      if (known === undefined || known === old || isSecond) return answer;
      this.#sizes.set(origin, known);
      old = known;
    }
  }
}
