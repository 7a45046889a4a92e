/** Answers what the trees over the audit logs prove. */
export interface ProofStore {
  /** The public key of an organization's audit log, as one word. */
  verifier(organization: string): string;
  /** The last signed checkpoint; the first one is made if there is none. */
  checkpoint(organization: string): Promise<string>;
  /**
   * A proof file for the first event with an id.
   *
   * @throws NotFound if there is no such event; Conflict if it is not the one that was signed
   */
  proof(organization: string, id: string): Promise<string>;
  /** The hashes that show that the tree of `to` leaves begins with those of `from`; `undefined` if it is smaller. */
  consistency(
    organization: string,
    from: number,
    to: number,
  ): Promise<readonly Buffer[] | undefined>;
}
