import type { NamedLog } from "../proof/log-name.ts";
import type { TilePlace } from "../proof/tiles.ts";

/** Answers what the trees over the logs prove. */
export interface SignedLogs {
  /** The public key of a log, as one word. */
  verifier(log: NamedLog): string;
  /** The number of lines in the last signed checkpoint; `undefined` if there is none. */
  signedSize(log: NamedLog): Promise<number | undefined>;
  /** The last signed checkpoint; the first one is made if there is none. */
  checkpoint(log: NamedLog): Promise<string>;
  /**
   * A proof file for the first line with an id.
   *
   * @throws NotFound if there is no such line; Conflict if it is not the one that was signed
   */
  proof(log: NamedLog, id: string): Promise<string>;
  /** The hashes that show that the tree of `to` leaves begins with those of `from`; `undefined` if it is smaller. */
  consistency(log: NamedLog, from: number, to: number): Promise<readonly Buffer[] | undefined>;
  /** The hashes of a tile; `undefined` if the last checkpoint does not have all of them. */
  tile(log: NamedLog, place: TilePlace): Promise<Buffer | undefined>;
}
