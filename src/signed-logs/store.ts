import type { TilePlace } from "../proof/tiles.ts";

/** The logs of an organization that are signed, by the last part of their tree's name. */
export const LOGS = ["audit", "activity"] as const;
export type LogName = (typeof LOGS)[number];

/** Answers what the trees over the logs prove. */
export interface SignedLogs {
  /** The public key of a log, as one word. */
  verifier(organization: string, log: LogName): string;
  /** The number of lines in the last signed checkpoint; `undefined` if there is none. */
  signedSize(organization: string, log: LogName): Promise<number | undefined>;
  /** The last signed checkpoint; the first one is made if there is none. */
  checkpoint(organization: string, log: LogName): Promise<string>;
  /**
   * A proof file for the first line with an id.
   *
   * @throws NotFound if there is no such line; Conflict if it is not the one that was signed
   */
  proof(organization: string, log: LogName, id: string): Promise<string>;
  /** The hashes that show that the tree of `to` leaves begins with those of `from`; `undefined` if it is smaller. */
  consistency(
    organization: string,
    log: LogName,
    from: number,
    to: number,
  ): Promise<readonly Buffer[] | undefined>;
  /** The hashes of a tile; `undefined` if the last checkpoint does not have all of them. */
  tile(organization: string, log: LogName, place: TilePlace): Promise<Buffer | undefined>;
}
