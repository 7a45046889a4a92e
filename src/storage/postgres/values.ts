/** Collects the values of a statement. */
export class Values {
  readonly all: unknown[];

  /** @param first the values of `$1` and so on */
  constructor(...first: readonly unknown[]) {
    this.all = [...first];
  }

  /** Adds a value and returns its placeholder, such as `$3`. */
  add(value: unknown): string {
    return `$${this.all.push(value)}`;
  }
}
