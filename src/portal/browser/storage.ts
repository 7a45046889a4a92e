/**
 * The storage of this tab. A browser may refuse it, or have no room left: a value then lasts no longer than
 * the page.
 */

/** Reads a value; `undefined` without one. */
export function stored(key: string): string | undefined {
  try {
    return sessionStorage.getItem(key) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Keeps a value; `undefined` removes it. */
export function store(key: string, value: string | undefined): void {
  try {
    if (value === undefined) sessionStorage.removeItem(key);
    else sessionStorage.setItem(key, value);
  } catch {
    // The value is lost with the page.
  }
}

/** Reads a value and removes it. */
export function takeStored(key: string): string | undefined {
  const value = stored(key);
  store(key, undefined);
  return value;
}

/** The value of a JSON text; `undefined` for any other text, which an earlier version may have kept. */
export function fromJson<T>(text: string | undefined): T | undefined {
  try {
    return text === undefined ? undefined : (JSON.parse(text) as T);
  } catch {
    return undefined;
  }
}
