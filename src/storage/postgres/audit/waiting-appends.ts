/** Appends that wait for a transaction, in a line for each organization. The organizations take turns. */
export class WaitingAppends<Append extends { readonly organization: string }> {
  /** In the order of the turns. */
  readonly #lines = new Map<string, Append[]>();

  get isEmpty(): boolean {
    return this.#lines.size === 0;
  }

  add(append: Append): void {
    const line = this.#lines.get(append.organization);
    if (line) line.push(append);
    else this.#lines.set(append.organization, [append]);
  }

  /**
   * Removes a group: one append of each organization, then a second one, and so on. An organization has no more in
   * the group once its next append is not taken, so its appends keep their order.
   */
  next(takes: (append: Append) => boolean): readonly Append[] {
    const group: Append[] = [];
    let open = [...this.#lines.values()];
    for (let round = 0; open.length > 0; round++) {
      open = open.filter((line) => {
        const append = line[round];
        if (append === undefined || !takes(append)) return false;
        group.push(append);
        return true;
      });
    }
    for (const [organization, count] of countsOf(group)) {
      const line = this.#lines.get(organization)?.slice(count) ?? [];
      this.#lines.delete(organization);
      if (line.length > 0) this.#lines.set(organization, line); // behind the other organizations
    }
    return group;
  }
}

function countsOf(group: readonly { readonly organization: string }[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { organization } of group) {
    counts.set(organization, (counts.get(organization) ?? 0) + 1);
  }
  return counts;
}
