import type { Party } from "./fair-share.ts";

/**
 * A line of waiting requests. Turns go round by the first part of their parties, within one by the second, and so on.
 * Groups that hold turns stand behind those that hold none, if the owner of the line says which turns are held.
 */
export class FairLine<T extends { readonly party: Party }> {
  #requests = new Set<T>();
  /** By the next part of the party. A group that was served moves behind its siblings. */
  readonly #groups = new Map<string, FairLine<T>>();
  #waiting = 0;
  /** The turns that parties of this group hold now. */
  #held = 0;

  get isEmpty(): boolean {
    return this.#waiting === 0;
  }

  /**
   * Adds a request behind those of its party.
   *
   * @param isFirst whether it stands before them instead
   */
  add(request: T, isFirst = false, depth = 0): void {
    this.#waiting++;
    const key = request.party[depth];
    if (key !== undefined) this.#group(key).add(request, isFirst, depth + 1);
    else if (isFirst) this.#requests = new Set([request, ...this.#requests]);
    else this.#requests.add(request);
  }

  /** Removes a request; returns whether it was in the line. */
  remove(request: T, depth = 0): boolean {
    const key = request.party[depth];
    const group = key === undefined ? undefined : this.#groups.get(key);
    const isFound = group?.remove(request, depth + 1) ?? this.#requests.delete(request);
    if (isFound) this.#waiting--;
    if (key !== undefined) this.#dropUnused(key);
    return isFound;
  }

  /** Counts the turns, or another amount, that a party now holds; below 0 what it has given back. */
  hold(party: Party, by: number, depth = 0): void {
    this.#held += by;
    const key = party[depth];
    if (key === undefined) return;
    this.#group(key).hold(party, by, depth + 1);
    this.#dropUnused(key);
  }

  /** The turns that the parties of a group hold now; those of one party, if the group is a whole party. */
  heldBy(group: Party, depth = 0): number {
    const key = group[depth];
    return key === undefined ? this.#held : (this.#groups.get(key)?.heldBy(group, depth + 1) ?? 0);
  }

  /** Removes the next request that has room from the line, and returns it. */
  next(hasRoom: (request: T) => boolean): T | undefined {
    const found = this.#nextOf(hasRoom, false) ?? this.#nextOf(hasRoom, true) ?? this.#own(hasRoom);
    if (found) this.#waiting--;
    return found;
  }

  /** The next request of the groups that hold turns, or of the others. */
  #nextOf(hasRoom: (request: T) => boolean, isHolding: boolean): T | undefined {
    for (const [key, group] of this.#groups) {
      if (group.isEmpty || group.#held > 0 !== isHolding) continue;
      const found = group.next(hasRoom);
      if (!found) continue;
      this.#groups.delete(key); // moves the group to the end
      this.#groups.set(key, group);
      this.#dropUnused(key);
      return found;
    }
    return undefined;
  }

  /** The first request of the one party whose line this is. */
  #own(hasRoom: (request: T) => boolean): T | undefined {
    const [first] = this.#requests;
    if (!first || !hasRoom(first)) return undefined;
    this.#requests.delete(first);
    return first;
  }

  #group(key: string): FairLine<T> {
    let group = this.#groups.get(key);
    if (group === undefined) this.#groups.set(key, (group = new FairLine<T>()));
    return group;
  }

  #dropUnused(key: string): void {
    const group = this.#groups.get(key);
    if (group?.isEmpty && group.#held === 0) this.#groups.delete(key);
  }
}
