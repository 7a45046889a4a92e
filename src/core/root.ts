/**
 * The directory of the service: `src`, or `dist`, whose bundle with this module is in `shared`. The service finds its own
 * files from here, since a bundle has another place than the modules in it.
 */
export const ROOT = new URL("../", import.meta.url);
