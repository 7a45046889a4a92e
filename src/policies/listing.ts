/**
 * Answers with lists of policies, which may be of any length. A small list is sent at once. A large list is
 * written in small parts, so that it is never in memory as a whole, and other requests are served between two
 * parts. The entity tag of a list is computed from the hashes of its texts, so no text is read for it.
 */
import { slicesOf } from "../core/slices.ts";
import { createHash } from "node:crypto";
import { Yielder } from "../core/yielder.ts";
import { etagOf, isCurrent } from "../http/entity-tag.ts";
import { empty, json, jsonPieces, type Reply } from "../http/reply.ts";
import { cacheHeaders, conditional, representationOf } from "./representation.ts";
import type { Policy } from "./schema.ts";
import type { PolicyStore, PolicyVersion } from "./store.ts";

/** Lists with more text than this are streamed. */
const MAX_BYTES_AT_ONCE = 1 << 20;
/** About the size of a version in the list, beside its text and description. */
const BYTES_OF_VERSION = 1 << 10;
/** The characters of a text that are turned into JSON at a time, within some 0.2 ms. */
const CHARACTERS_AT_ONCE = 1 << 16;

/** Answers a GET, conditional or not, of an organization's policies. */
export function answerList(
  organization: string,
  policies: PolicyStore,
  ifNoneMatch: string | undefined,
): Promise<Reply> {
  const textOf = async (version: string) => (await policies.get(organization, version))?.yaml;
  return answer(organization, policies, ifNoneMatch, textOf);
}

/** Answers with the policies without their texts, for lists in user interfaces. */
export function answerSummaries(
  organization: string,
  policies: PolicyStore,
  ifNoneMatch: string | undefined,
): Promise<Reply> {
  return answer(organization, policies, ifNoneMatch, undefined);
}

/** Answers a GET, conditional or not, of one policy. A long policy is written in small parts, like a list. */
export async function answerVersion(
  whole: Policy,
  ifNoneMatch: string | undefined,
): Promise<Reply> {
  const { yaml, ...policy } = whole;
  if (yaml.length <= CHARACTERS_AT_ONCE) return conditional(representationOf(whole), ifNoneMatch);
  const parts = () => partsOfPolicy(policy, yaml, new Yielder());
  const hash = createHash("sha256");
  for await (const part of parts()) hash.update(part);
  const etag = etagOf(hash.digest("base64url"));
  const headers = cacheHeaders(etag);
  if (isCurrent(ifNoneMatch, etag)) return empty(304, headers);
  return jsonPieces(parts, headers);
}

type TextOf = (version: string) => Promise<string | undefined>;

async function answer(
  organization: string,
  policies: PolicyStore,
  ifNoneMatch: string | undefined,
  textOf: TextOf | undefined,
): Promise<Reply> {
  const versions = await policies.versions(organization);
  const etag = etagOf(`${textOf ? "whole" : "summary"} ${await identityOf(versions)}`);
  const headers = cacheHeaders(etag);
  if (isCurrent(ifNoneMatch, etag)) return empty(304, headers);
  const parts = () => partsOf(versions, textOf);
  let bytes = 0;
  for (const version of versions) {
    bytes += BYTES_OF_VERSION + (version.policy.description?.length ?? 0);
    if (textOf) bytes += version.bytes;
  }
  if (bytes > MAX_BYTES_AT_ONCE) return jsonPieces(parts, headers);
  let body = "";
  for await (const part of parts()) body += part;
  return json(200, body, headers);
}

const digests = new WeakMap<PolicyVersion, string>();

/** The hash of a list, from parts that are computed once for each version. */
async function identityOf(versions: readonly PolicyVersion[]): Promise<string> {
  const hash = createHash("sha256");
  const yielder = new Yielder();
  for (const version of versions) {
    if (yielder.isDue) await yielder.step();
    let digest = digests.get(version);
    if (digest === undefined) digests.set(version, (digest = etagOf(JSON.stringify(version))));
    hash.update(digest);
  }
  return hash.digest("base64url");
}

function activeOf(versions: readonly PolicyVersion[]): string {
  return versions.find(({ policy }) => policy.active)?.policy.version ?? "";
}

/** The JSON of a list in small parts, as the list was at the time of the request. */
async function* partsOf(
  versions: readonly PolicyVersion[],
  textOf: TextOf | undefined,
): AsyncGenerator<string> {
  const yielder = new Yielder();
  yield `{"active":${JSON.stringify(activeOf(versions))},"policies":[`;
  for (const [index, { policy }] of versions.entries()) {
    if (index > 0) yield ",";
    if (!textOf) yield JSON.stringify(policy);
    else yield* partsOfPolicy(policy, (await textOf(policy.version)) ?? "", yielder);
    if (yielder.isDue) await yielder.step();
  }
  yield "]}";
}

/** The JSON of a policy in small parts. */
async function* partsOfPolicy(
  policy: PolicyVersion["policy"],
  yaml: string,
  yielder: Yielder,
): AsyncGenerator<string> {
  yield `${JSON.stringify(policy).slice(0, -1)},"yaml":"`;
  for (const part of slicesOf(yaml, CHARACTERS_AT_ONCE)) {
    yield JSON.stringify(part).slice(1, -1);
    if (yielder.isDue) await yielder.step();
  }
  yield '"}';
}
