import { realpath } from "node:fs/promises";
import { basename, dirname, join, resolve, sep } from "node:path";

/**
 * Refuses two directories if one contains the other, even through links: a backup inside its data
 * directory would prevent the next start, and a restore into a backup would damage it.
 *
 * @param target need not exist
 * @param called the argument that names the target
 * @throws Error that says which one contains the other
 */
export async function requireApart(source: string, target: string, called: string): Promise<void> {
  const [from, to] = [await realPathOf(source), await realPathOf(target)];
  const isInside = (inner: string, outer: string): boolean =>
    `${inner}${sep}`.startsWith(outer.endsWith(sep) ? outer : `${outer}${sep}`);
  if (!isInside(to, from) && !isInside(from, to)) return;
  const [inner, outer] = isInside(to, from) ? [target, source] : [source, target];
  throw new Error(`"${inner}" lies in "${outer}": choose a ${called} outside of it`);
}

/** The real path of the existing part, followed by the rest as it is written. */
async function realPathOf(path: string): Promise<string> {
  const absolute = resolve(path);
  const parent = dirname(absolute);
  try {
    return await realpath(absolute);
  } catch {
    // It does not exist, or cannot be entered; its use reports that.
    return parent === absolute ? absolute : join(await realPathOf(parent), basename(absolute));
  }
}
