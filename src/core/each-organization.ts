import { describeError, type Log } from "./log.ts";

/** The log, and the message for an organization whose work failed. */
export interface EachOrganizationParts {
  readonly log: Log;
  readonly failure: string;
  /** Called after a failure. If it fails too, the others would fail as well, so the work ends. */
  readonly check?: () => Promise<unknown>;
}

/** Does work for organizations one after another. A failure is logged and does not stop the others. */
export async function forEachOrganization(
  { log, failure, check }: EachOrganizationParts,
  organizations: Iterable<string>,
  work: (organization: string) => Promise<void>,
): Promise<void> {
  for (const organization of organizations) {
    try {
      await work(organization);
    } catch (error) {
      await check?.();
      log.error(failure, { organization, error: describeError(error) });
    }
  }
}
