/** The names of signed logs. */

/** The logs of an organization, by the last part of their names. */
export const LOGS = ["audit", "activity"] as const;
export type LogName = (typeof LOGS)[number];

/** A log of an organization. */
export interface NamedLog {
  readonly organization: string;
  readonly log: LogName;
}

/** The name of a log, which is the first line of its checkpoints. */
export function originOf(host: string, { organization, log }: NamedLog): string {
  return `${host}/${organization}/${log}`;
}

/** The log of this host with this name; `undefined` for another name, such as one of an earlier host. */
export function logOfOrigin(origin: string, host: string): NamedLog | undefined {
  const [organization = ""] = origin.split("/").slice(-2);
  const log = LOGS.find((one) => origin === originOf(host, { organization, log: one }));
  return log && { organization, log };
}

/** Whether this is the name of a log, at any host. */
export function isOriginOf(origin: string, log: NamedLog): boolean {
  return origin.endsWith(originOf("", log));
}
