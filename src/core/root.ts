/**
 * The directory of the service: `src`, or `dist` with its bundles in `shared`. The service finds its own files from here,
 * since a bundle has another place than the modules in it.
 */
export const ROOT = rootOf(import.meta.url);

/** The directory of the service, from the address of a module in `core` or of the bundle that contains it. */
export function rootOf(module: string): URL {
  return new URL(/\/(?:core|shared)\/[\w-]+\.[jt]s$/.test(module) ? "../" : "./", module);
}
