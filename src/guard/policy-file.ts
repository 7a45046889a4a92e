import { join } from "node:path";
import type { PolicyDocument } from "../policies/rules.ts";
import { readTrusted, Untrusted } from "./regular-file.ts";
import { replaceFile } from "./replace-file.ts";

/** The version of the file's format; guards of other versions may write other formats. */
const FORMAT = 1;
/** The characters of the value of a header. */
const HEADER_VALUE = /^[\x20-\x7e]*$/;
/** Far more than a checked document of 1 MiB takes. */
const MAX_BYTES = 64 << 20;

/** The active policy as the guard keeps it, checked and ready to decide. */
export interface GuardPolicy {
  readonly format: typeof FORMAT;
  /** The service that the policy was fetched from. A policy of another service is not used. */
  readonly api: string;
  readonly organization: string;
  readonly version: string;
  readonly etag: string;
  /** Milliseconds since 1970. */
  readonly fetchedAt: number;
  /** The fault that this guard found in a document that the service took, such as a test that fails. */
  readonly problem?: string;
  /** Absent if the policy is of another schema than `signalbox/policy/v1`. */
  readonly document?: PolicyDocument;
}

/** The way out where a synchronisation replaces the file. */
const SYNC = ": run signalbox guard sync";

/**
 * Reads the policy.
 *
 * @returns the policy, or the reason why it cannot be used
 */
export function readPolicy(directory: string, api: string): GuardPolicy | string {
  const path = join(directory, "policy.json");
  let text: string;
  try {
    text = readTrusted("the policy", path, MAX_BYTES);
  } catch (error) {
    if (error instanceof Untrusted) return error.message;
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return `no policy has been fetched yet${SYNC}`;
    return `the policy cannot be read: ${code ?? message}`;
  }
  return checked(text, api);
}

function checked(text: string, api: string): GuardPolicy | string {
  let policy: Partial<GuardPolicy> | null;
  try {
    policy = JSON.parse(text) as Partial<GuardPolicy> | null;
  } catch {
    return `the policy file is damaged${SYNC}`;
  }
  if (policy?.format !== FORMAT) return `the policy file is of another version of the guard${SYNC}`;
  if (policy.api !== api) return `the policy file is of another service or organization${SYNC}`;
  if (!policy.document)
    return "the policy is not of the schema signalbox/policy/v1: publish one that is";
  const { document, etag } = policy;
  if (!Array.isArray(document.rules) || typeof etag !== "string" || !isSendable(etag))
    return `the policy file is damaged${SYNC}`;
  return policy as GuardPolicy;
}

function isSendable(etag: string): boolean {
  return HEADER_VALUE.test(etag);
}

/** Replaces the policy, whole or not at all. An ETag that cannot be sent back, such as that of a proxy, is left out. */
export function writePolicy(directory: string, policy: Omit<GuardPolicy, "format">): void {
  const etag = isSendable(policy.etag) ? policy.etag : "";
  const text = `${JSON.stringify({ format: FORMAT, ...policy, etag })}\n`;
  replaceFile(join(directory, "policy.json"), text, 0o600);
}
