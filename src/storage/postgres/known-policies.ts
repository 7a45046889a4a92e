import { setNewest } from "../../core/set-newest.ts";
import { Turns } from "../../core/scheduling/turns.ts";
import type { Policy } from "../../policies/schema.ts";
import { fromText } from "./text.ts";

/** The active version of an organization. */
export interface Head {
  readonly organization: string;
  readonly version: string;
  /**
   * The time of its activation or of its publish, whichever made it active: after a fail-over that lost a publish, the same
   * name may be that of another text. `null` if an earlier version of Signalbox stored the publish.
   */
  readonly activated_at: string | null;
  /** Whether its publish made it active. */
  readonly by_publish: boolean;
}

/** Reads the active policy of an organization. */
export interface PolicyReader {
  /** The bytes of a version's text. */
  bytes(head: Head): Promise<number>;
  read(organization: string): Promise<Policy | undefined>;
}

const MOST_SMALL = 256;
const SMALL_LENGTH = 64 << 10;
/** The most characters of the large ones, together. Each is kept as JSON, too. */
const MOST_LARGE_LENGTH = 24 << 20;

/** Reads of large policies at a time. To make the JSON and the entity tag of each takes some milliseconds of the event loop. */
const READS = { atOnce: 2, atOnceOfOne: 1, waiting: Infinity } as const;

/**
 * Caches active policies with their texts, so that the same version is always the same object. With as many large ones as
 * small ones, runtimes of 300 organizations with policies of 1 MiB took 850 MiB, and held up all other requests.
 */
export class KnownPolicies {
  readonly #small = new Map<string, Policy>();
  readonly #large = new Map<string, Policy>();
  #largeLength = 0;
  readonly #reads = new Map<string, Promise<Policy | undefined>>();
  readonly #turns = new Turns(READS);

  /** The cached policy; `undefined` if another version is active now. */
  get(head: Head): Policy | undefined {
    const { organization } = head;
    const known = this.#small.get(organization) ?? this.#large.get(organization);
    if (known === undefined || !isSame(known, head)) return undefined;
    this.#keep(known);
    return known;
  }

  /** Reads the active policy. Requests that found the same version active share one read. */
  load(head: Head, reader: PolicyReader): Promise<Policy | undefined> {
    const key = JSON.stringify(head);
    let read = this.#reads.get(key);
    if (read === undefined) {
      read = this.#load(head, reader).finally(() => this.#reads.delete(key));
      this.#reads.set(key, read);
    }
    return read;
  }

  async #load(head: Head, reader: PolicyReader): Promise<Policy | undefined> {
    const { organization } = head;
    const read = (): Promise<Policy | undefined> => reader.read(organization);
    const isLarge = (await reader.bytes(head)) > SMALL_LENGTH;
    const policy = await (isLarge ? this.#turns.run({ party: [organization] }, read) : read());
    if (policy) this.#keep(policy);
    return policy;
  }

  #keep(policy: Policy): void {
    const { organization_id: organization, yaml } = policy;
    this.#dropLarge(organization);
    if (yaml.length <= SMALL_LENGTH)
      return setNewest(this.#small, organization, policy, MOST_SMALL);
    this.#small.delete(organization);
    this.#large.set(organization, policy);
    this.#largeLength += yaml.length;
    for (const oldest of this.#large.keys()) {
      if (this.#largeLength <= MOST_LARGE_LENGTH) return;
      this.#dropLarge(oldest);
    }
  }

  #dropLarge(organization: string): void {
    this.#largeLength -= this.#large.get(organization)?.yaml.length ?? 0;
    this.#large.delete(organization);
  }
}

function isSame(
  known: Policy,
  { version, activated_at: at, by_publish: byPublish }: Head,
): boolean {
  if (known.version !== fromText(version)) return false;
  if (!byPublish) return known.activated_at === at;
  return known.activated_at === undefined && (at === null || known.updated_at === at);
}
