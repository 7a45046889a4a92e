import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import swc from "@swc/wasm-typescript";

const root = fileURLToPath(new URL("../..", import.meta.url));

/**
 * Compiles `src`, `test` and `bench` to JavaScript, module by module. Each process of the tests loads
 * several hundred modules, which takes seconds if each is compiled on the way.
 *
 * Types become spaces, and each module names its source: stack traces show the lines of the source without source maps,
 * which would take a tenth of the time of most tests. All else stays: the modules use no syntax that Node 20 lacks.
 *
 * The compiled modules find packages, since they are below `node_modules`, and files as before, since
 * `import.meta.url` keeps the address of the source. Threads run compiled modules too: the module that starts them has
 * its own address.
 *
 * @returns the directory that contains the compiled `src`, `test` and `bench`; the caller removes it
 */
export function compileSources(): string {
  const caches = join(root, "node_modules", ".cache");
  mkdirSync(caches, { recursive: true });
  const outdir = mkdtempSync(join(caches, "signalbox-tests-"));
  const sources = ["src", "test", "bench"]
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((path) =>
        join(folder, path),
      ),
    )
    .filter((path) => path.endsWith(".ts") && !path.split(/[/\\]/).includes("node_modules"));
  for (const source of sources) {
    const compiled = join(outdir, source.replace(/ts$/, "js"));
    mkdirSync(dirname(compiled), { recursive: true });
    writeFileSync(compiled, compile(join(root, source)));
  }
  return outdir;
}

function compile(path: string): string {
  const url = pathToFileURL(path).href;
  const startsThreads = path.endsWith("/core/thread.ts");
  const code = swc
    .transformSync(readFileSync(path, "utf8"), { mode: "strip-only" })
    .code.replace(/(?<=\b(?:from|import) ?\(?"\.{1,2}\/[^"]*\.)ts(?=")/g, "js")
    .replace(/\bimport\.meta\.url\b/g, startsThreads ? "$&" : JSON.stringify(url))
    .replace(/\bimport\.meta\.dirname\b/g, JSON.stringify(dirname(path)));
  return `${code}\n//# sourceURL=${url}\n`;
}
