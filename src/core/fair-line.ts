import type { Party } from "./fair-share.ts";

/** A line of waiting requests. Turns go round by the first part of their parties, within one by the second, and so on. */
export class FairLine<T extends { readonly party: Party }> {
  readonly #requests = new Set<T>();
  /** By the next part of the party. A group that was served moves behind its siblings. */
  readonly #groups = new Map<string, FairLine<T>>();

  get isEmpty(): boolean {
    return this.#requests.size === 0 && this.#groups.size === 0;
  }

  add(request: T, depth = 0): void {
    const key = request.party[depth];
    if (key === undefined) return void this.#requests.add(request);
    const group = this.#groups.get(key) ?? new FairLine<T>();
    this.#groups.set(key, group);
    group.add(request, depth + 1);
  }

  remove(request: T, depth = 0): void {
    this.#requests.delete(request);
    const key = request.party[depth];
    const group = key === undefined ? undefined : this.#groups.get(key);
    group?.remove(request, depth + 1);
    if (key !== undefined && group?.isEmpty) this.#groups.delete(key);
  }

  /** Removes the next request that has room from the line, and returns it. */
  next(hasRoom: (request: T) => boolean): T | undefined {
    for (const [key, group] of this.#groups) {
      const found = group.next(hasRoom);
      if (!found) continue;
      this.#groups.delete(key); // moves the group to the end
      if (!group.isEmpty) this.#groups.set(key, group);
      return found;
    }
    const [first] = this.#requests; // all of them belong to one party
    if (first && hasRoom(first)) this.#requests.delete(first);
    else return undefined;
    return first;
  }
}
