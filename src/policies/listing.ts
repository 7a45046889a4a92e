/**
 * The list of policies, which carries every version's whole text and so may grow without bound. A
 * small one is sent at once; a large one is written text by text, so that it never lies in memory.
 * Its entity tag is computed from what identifies the texts, before any of them is read.
 */
import { once } from "node:events";
import type { Writable } from "node:stream";
import { etagOf, isCurrent } from "../http/entity-tag.ts";
import { empty, json, type Reply, stream } from "../http/reply.ts";
import { cacheHeaders } from "./representation.ts";
import type { PolicyStore, PolicyVersion } from "./store.ts";

/** Lists with more text than this are streamed. */
const MAX_BYTES_AT_ONCE = 1 << 20;

const JSON_TYPE = "application/json; charset=utf-8";

/** Answers a GET of an organization's policies, which may have been conditional. */
export async function answerList(
  organization: string,
  policies: PolicyStore,
  ifNoneMatch: string | undefined,
): Promise<Reply> {
  const versions = await policies.versions(organization);
  const etag = etagOf(JSON.stringify(versions));
  const headers = cacheHeaders(etag);
  if (isCurrent(ifNoneMatch, etag)) return empty(304, headers);
  const parts = () => partsOf(organization, policies, versions);
  const bytes = versions.reduce((sum, version) => sum + version.bytes, 0);
  if (bytes > MAX_BYTES_AT_ONCE) {
    return stream(JSON_TYPE, (output, signal) => send(parts(), output, signal), headers);
  }
  let body = "";
  for await (const part of parts()) body += part;
  return json(200, body, headers);
}

/** Answers the same without the texts, for those who show versions to people. */
export async function answerSummaries(
  organization: string,
  policies: PolicyStore,
  ifNoneMatch: string | undefined,
): Promise<Reply> {
  const versions = (await policies.versions(organization)).map(({ policy }) => policy);
  const body = JSON.stringify({ active: activeOf(versions), policies: versions });
  const etag = etagOf(body);
  const headers = cacheHeaders(etag);
  return isCurrent(ifNoneMatch, etag) ? empty(304, headers) : json(200, body, headers);
}

function activeOf(versions: readonly PolicyVersion["policy"][]): string {
  return versions.find(({ active }) => active)?.version ?? "";
}

/** The JSON of a `PolicyList`, version by version, as the versions stood when it was asked for. */
async function* partsOf(
  organization: string,
  policies: PolicyStore,
  versions: readonly PolicyVersion[],
): AsyncGenerator<string> {
  const active = activeOf(versions.map(({ policy }) => policy));
  yield `{"active":${JSON.stringify(active)},"policies":[`;
  for (const [index, { policy }] of versions.entries()) {
    const yaml = await policies.text(organization, policy.version);
    yield (index === 0 ? "" : ",") + JSON.stringify({ ...policy, yaml });
  }
  yield "]}";
}

async function send(
  parts: AsyncIterable<string>,
  output: Writable,
  signal: AbortSignal,
): Promise<void> {
  for await (const part of parts) {
    if (signal.aborted) return;
    // A reader that has gone never drains; the signal ends the waiting, and the reply.
    if (!output.write(part)) await once(output, "drain", { signal });
  }
}
