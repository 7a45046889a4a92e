import { describeError, type Log } from "../../core/log.ts";
import type { Database } from "./database.ts";

/** The database, the log, and the message for an organization whose work failed. */
export interface EachOrganizationParts {
  readonly database: Pick<Database, "query">;
  readonly log: Log;
  readonly failure: string;
}

/**
 * Does work for organizations one after another. A failure is logged and does not stop the others, such as a statement
 * that takes too long. But if the database does not answer then, the others would fail as well, so the work ends.
 */
export async function forEachOrganization(
  { database, log, failure }: EachOrganizationParts,
  organizations: readonly string[],
  work: (organization: string) => Promise<void>,
): Promise<void> {
  for (const organization of organizations) {
    try {
      await work(organization);
    } catch (error) {
      await database.query("SELECT");
      log.error(failure, { organization, error: describeError(error) });
    }
  }
}
