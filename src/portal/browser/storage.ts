/** Texts that the browser keeps beyond a page: the storage of this tab, and that of all its tabs. */

/** A storage. The browser may refuse it, or have no room left: a value then lasts no longer than the page. */
class TextStorage {
  readonly #open: () => Storage;

  constructor(open: () => Storage) {
    this.#open = open;
  }

  /** Reads a value; `undefined` without one. */
  get(key: string): string | undefined {
    try {
      return this.#open().getItem(key) ?? undefined;
    } catch {
      return undefined;
    }
  }

  /** Keeps a value; `undefined` removes it. Returns whether it could. */
  set(key: string, value: string | undefined): boolean {
    try {
      if (value === undefined) this.#open().removeItem(key);
      else this.#open().setItem(key, value);
      return true;
    } catch {
      return false;
    }
  }

  /** Reads a value and removes it. */
  take(key: string): string | undefined {
    const value = this.get(key);
    this.set(key, undefined);
    return value;
  }

  /** Removes all values. */
  clear(): void {
    try {
      this.#open().clear();
    } catch {
      // Without storage there is nothing to clear.
    }
  }
}

/** The storage of this tab: drafts, typed texts, the page to return to. */
export const tabStorage = new TextStorage(() => sessionStorage);

/** The storage of all tabs: the session, and the choices of the reader. */
export const browserStorage = new TextStorage(() => localStorage);

/** The value of a JSON text; `undefined` for any other text, which an earlier version may have kept. */
export function fromJson<T>(text: string | undefined): T | undefined {
  try {
    return text === undefined ? undefined : (JSON.parse(text) as T);
  } catch {
    return undefined;
  }
}
