/** The stores of a demo that is open to everybody: full ones take nothing new until the next reset. */
import type { Refusal } from "../core/errors.ts";
import type { FleetStore } from "../fleet/store.ts";
import type { PolicyStore } from "../policies/store.ts";

/** Makes the refusal of what does not fit any more. */
export type MakeRefusal = (message: string) => Refusal;

/** Policies of which an organization may have so many versions. */
export function cappedPolicies(
  inner: PolicyStore,
  limit: number,
  refusal: MakeRefusal,
): PolicyStore {
  let underWay = 0; // over all organizations, so that a burst is refused early rather than late
  return {
    async publish(organization, draft) {
      const versions = await inner.versions(organization);
      if (versions.length + underWay >= limit) {
        throw refusal(
          `The demo keeps at most ${limit} policy versions: activate one of them, or publish after the next reset`,
        );
      }
      underWay++;
      try {
        return await inner.publish(organization, draft);
      } finally {
        underWay--;
      }
    },
    activate: (...args) => inner.activate(...args),
    active: (organization) => inner.active(organization),
    activeVersion: (organization) => inner.activeVersion(organization),
    get: (organization, version) => inner.get(organization, version),
    list: (organization) => inner.list(organization),
    versions: (organization) => inner.versions(organization),
    text: (organization, version) => inner.text(organization, version),
  };
}

/** A fleet of which an organization may have so many runtimes. */
export function cappedFleet(inner: FleetStore, limit: number, refusal: MakeRefusal): FleetStore {
  const known = new Map<string, Promise<Set<string>>>();
  const namesOf = (organization: string): Promise<Set<string>> => {
    const names = known.get(organization) ?? readNames(inner, organization);
    known.set(organization, names);
    return names;
  };
  return {
    heartbeat(organization, heartbeat, at, kept) {
      namesOf(organization).then((names) => {
        if (!names.has(heartbeat.name) && names.size >= limit) {
          const full = `The demo keeps at most ${limit} runtimes: new ones are welcome after the next reset`;
          return kept(refusal(full));
        }
        names.add(heartbeat.name);
        inner.heartbeat(organization, heartbeat, at, kept);
      }, kept);
    },
    list: (...args) => inner.list(...args),
    counts: (...args) => inner.counts(...args),
    policies: (...args) => inner.policies(...args),
    async forget(organization, name) {
      const names = await namesOf(organization);
      const isForgotten = await inner.forget(organization, name);
      if (isForgotten) names.delete(name);
      return isForgotten;
    },
  };
}

async function readNames(fleet: FleetStore, organization: string): Promise<Set<string>> {
  const rows = await fleet.list(organization);
  return new Set(rows.slice(0, rows.total).map(({ name }) => name));
}
