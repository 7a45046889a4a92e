import { build, stop, type Plugin } from "esbuild";
import { mkdirSync, mkdtempSync, readdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

/**
 * Compiles `src`, `test` and `bench` to JavaScript, module by module. Each process of the tests loads
 * several hundred modules, which takes seconds if each is compiled on the way.
 *
 * The compiled modules find packages, since they are below `node_modules`, and files as before, since
 * `import.meta.url` keeps the address of the source. Threads run compiled modules too. Stack traces name
 * the source.
 *
 * @returns the directory that contains the compiled `src`, `test` and `bench`; the caller removes it
 */
export async function compileSources(): Promise<string> {
  const caches = join(root, "node_modules", ".cache");
  mkdirSync(caches, { recursive: true });
  const outdir = mkdtempSync(join(caches, "signalbox-tests-"));
  const entryPoints = ["src", "test", "bench"]
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((path) =>
        join(folder, path),
      ),
    )
    .filter((path) => path.endsWith(".ts") && !path.split(/[/\\]/).includes("node_modules"));
  await build({
    ...{ absWorkingDir: root, entryPoints, outdir, outbase: root, plugins: [moduleByModule] },
    ...{ bundle: true, treeShaking: false, platform: "node", format: "esm", target: "node20" },
    ...{ packages: "external", sourcemap: "inline", sourcesContent: false, logLevel: "warning" },
  });
  await stop(); // or its process waits for another build as long as the tests run
  return outdir;
}

const moduleByModule: Plugin = {
  name: "module-by-module",
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /^\.{1,2}\// }, ({ kind, path, resolveDir }) => {
      if (kind === "entry-point") return undefined;
      if (path.endsWith(".ts")) return { path: path.replace(/\.ts$/, ".js"), external: true };
      return { path: pathToFileURL(resolve(resolveDir, path)).href, external: true };
    });
    onLoad({ filter: /\.ts$/ }, async ({ path }) => ({
      contents: (await readFile(path, "utf8"))
        .replace(
          /(?<!startThread\()\bimport\.meta\.url\b/g,
          JSON.stringify(pathToFileURL(path).href),
        )
        .replace(/\bimport\.meta\.dirname\b/g, JSON.stringify(dirname(path))),
      loader: "ts",
    }));
  },
};
