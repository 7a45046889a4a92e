/**
 * Choices of the reader that every tab of the browser shares. A browser may refuse to keep them: a choice then
 * lasts as long as the page.
 */

/** Reads a choice; `undefined` without one. */
export function kept(key: string): string | undefined {
  try {
    return localStorage.getItem(key) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Keeps a choice, or removes it; returns whether it could. */
export function keep(key: string, value: string | undefined): boolean {
  try {
    if (value === undefined) localStorage.removeItem(key);
    else localStorage.setItem(key, value);
    return true;
  } catch {
    return false; // The choice is lost with the page.
  }
}
