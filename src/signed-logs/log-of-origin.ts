import type { NamedLog } from "../proof/evidence.ts";
import { LOGS } from "./store.ts";

/** The log of this server with this name; `undefined` for another name, such as one of an earlier host. */
export function logOfOrigin(origin: string, host: string): NamedLog | undefined {
  const [organization = "", name] = origin.split("/").slice(-2);
  const log = LOGS.find((one) => one === name);
  if (log === undefined || origin !== `${host}/${organization}/${log}`) return undefined;
  return { organization, log };
}
