import { realpath } from "node:fs/promises";
import { basename, dirname, join, resolve, sep } from "node:path";

/**
 * Refuses two directories if one contains the other, even through links: a backup inside its data
 * directory would prevent the next start, and a restore into a backup would damage it.
 *
 * @param target need not exist
 * @param called the argument that names the target
 * @throws Error saying which directory contains the other
 */
export async function requireApart(source: string, target: string, called: string): Promise<void> {
  const [from, to] = [await realPathOf(source), await realPathOf(target)];
  const isInside = (inner: string, outer: string): boolean =>
    `${inner}${sep}`.startsWith(outer.endsWith(sep) ? outer : `${outer}${sep}`);
  if (!isInside(to, from) && !isInside(from, to)) return;
  const [inner, outer] = isInside(to, from) ? [target, source] : [source, target];
  throw new Error(`"${inner}" lies in "${outer}": choose a ${called} outside of it`);
}

/** The real path of the part that exists, followed by the remaining part as written. */
async function realPathOf(path: string): Promise<string> {
  const absolute = resolve(path);
  const parent = dirname(absolute);
  try {
    return await realpath(absolute);
  } catch {
    // The directory does not exist or cannot be entered. The command reports that when it uses it.
    return parent === absolute ? absolute : join(await realPathOf(parent), basename(absolute));
  }
}
