/**
 * From bytes of the log to rows of an index. The lines that were just acknowledged and the lines that
 * are read back at start take this one way, so what a restart finds is what was there before.
 */
import { isUtf8 } from "node:buffer";
import { eachLine, isBlank, type TakeLine } from "../../../log-lines.ts";
import type { GrowingIndex } from "./growing-index.ts";
import { LineScanner } from "./line-scanner.ts";
import { inCanonicalForm } from "../write/canonical-form.ts";

const NEWLINE = 0x0a;

/** Enters the lines of one organization. */
export class LineIndexer {
  readonly #organization: string;
  readonly #scanner: LineScanner;

  constructor(organization: string) {
    this.#organization = organization;
    this.#scanner = new LineScanner(organization);
  }

  /**
   * Enters whole lines, each of which ends in a newline; empty ones are passed over.
   *
   * @param offset where the bytes begin in the log
   * @param damaged takes lines that are no events of this organization, as readers of lines give them
   */
  add(index: GrowingIndex, bytes: Buffer, offset: number, damaged: TakeLine): void {
    const isText = isUtf8(bytes);
    this.#scanner.open(bytes);
    for (let start = 0; start < bytes.length;) {
      const end = isText ? this.#scanner.scan(start) : -1;
      let newline = end === -1 ? start : afterBlanks(bytes, end);
      if (end !== -1 && bytes[newline] === NEWLINE) {
        index.add(this.#scanner, offset + start, offset + end);
      } else {
        newline = bytes.indexOf(NEWLINE, start);
        eachLine(bytes.subarray(start, newline + 1), offset + start, (line, at) => {
          if (!this.#addOther(index, line, at)) damaged(line, at);
        });
        this.#scanner.open(bytes);
      }
      start = newline + 1;
    }
  }

  /** Enters a line of another form; `false` when it is no event. */
  #addOther(index: GrowingIndex, line: Buffer, offset: number): boolean {
    const own = inCanonicalForm(line, this.#organization);
    if (own === undefined) return false;
    this.#scanner.open(own);
    if (this.#scanner.scan(0) === -1) return false;
    index.add(this.#scanner, offset, offset + line.length);
    return true;
  }
}

function afterBlanks(bytes: Buffer, from: number): number {
  let at = from;
  while (isBlank(bytes[at])) at++;
  return at;
}
