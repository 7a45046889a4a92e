/**
 * Answers with lists of policies, which may be of any length. A small list is sent at once. A large list is
 * written in small parts, so that it is never in memory as a whole, and other requests are served between two
 * parts. The entity tag of a list is computed from the hashes of its texts, so no text is read for it.
 */
import type { Awaitable } from "../core/caller.ts";
import { slicesOf } from "../core/slices.ts";
import { createHash } from "node:crypto";
import { Yielder } from "../core/scheduling/yielder.ts";
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
/** The versions and the bytes of texts that are read at a time. One by one, 9,900 texts took 4.5 s over PostgreSQL. */
const VERSIONS_AT_ONCE = 100;
const BYTES_AT_ONCE = 1 << 18;

/** Answers a GET, conditional or not, of an organization's policies. */
export function answerList(
  organization: string,
  policies: PolicyStore,
  ifNoneMatch: string | undefined,
): Promise<Reply> {
  const textsOf: TextsOf = (versions) => policies.texts(organization, versions);
  return answer(organization, policies, ifNoneMatch, textsOf);
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

type TextsOf = (versions: readonly PolicyVersion[]) => Awaitable<readonly string[]>;

async function answer(
  organization: string,
  policies: PolicyStore,
  ifNoneMatch: string | undefined,
  textsOf: TextsOf | undefined,
): Promise<Reply> {
  const versions = await policies.versions(organization);
  const etag = etagOf(`${textsOf ? "whole" : "summary"} ${await identityOf(versions)}`);
  const headers = cacheHeaders(etag);
  if (isCurrent(ifNoneMatch, etag)) return empty(304, headers);
  const parts = () => partsOf(versions, textsOf);
  let bytes = 0;
  for (const version of versions) {
    bytes += BYTES_OF_VERSION + (version.policy.description?.length ?? 0);
    if (textsOf) bytes += version.bytes;
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
  textsOf: TextsOf | undefined,
): AsyncGenerator<string> {
  const yielder = new Yielder();
  yield `{"active":${JSON.stringify(activeOf(versions))},"policies":[`;
  let separator = "";
  for (const portion of portionsOf(versions)) {
    const texts = await textsOf?.(portion);
    for (const [index, { policy }] of portion.entries()) {
      yield separator;
      separator = ",";
      if (texts) yield* partsOfPolicy(policy, texts[index] ?? "", yielder);
      else yield JSON.stringify(policy);
      if (yielder.isDue) await yielder.step();
    }
  }
  yield "]}";
}

/** The versions whose texts are read together; a text that is longer than a portion is read alone. */
function* portionsOf(versions: readonly PolicyVersion[]): Generator<readonly PolicyVersion[]> {
  let portion: PolicyVersion[] = [];
  let bytes = 0;
  for (const version of versions) {
    const isFull = portion.length >= VERSIONS_AT_ONCE || bytes + version.bytes > BYTES_AT_ONCE;
    if (isFull && portion.length > 0) {
      yield portion;
      [portion, bytes] = [[], 0];
    }
    portion.push(version);
    bytes += version.bytes;
  }
  if (portion.length > 0) yield portion;
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
