import { Worker, type WorkerOptions } from "node:worker_threads";

/**
 * Starts a worker thread: JavaScript in `dist`, TypeScript in `src`.
 *
 * @param module its path in `src`, without an ending
 * @throws Error if this process may not start threads
 */
export function startThread(module: string, options: WorkerOptions = {}): Worker {
  // Not from ROOT: tests run from compiled modules, whose threads are beside them. Both are one level below the root.
  const here = import.meta.url;
  if (here.endsWith(".js")) return new Worker(new URL(`../${module}.js`, here), options);
  return new Worker(runFromSource(new URL(`../${module}.ts`, here).href), {
    ...options,
    eval: true,
  });
}

/**
 * A script that registers the TypeScript loader in a thread: on Node 20 threads do not inherit the loader
 * of their process. Built code never uses it.
 */
function runFromSource(file: string): string {
  const loader = import.meta.resolve("tsx/esm/api");
  return `import(${JSON.stringify(file)}).catch(async (error) => {
    if (error.code !== "ERR_UNKNOWN_FILE_EXTENSION") throw error;
    (await import(${JSON.stringify(loader)})).register();
    await import(${JSON.stringify(`${file}?with-loader`)});
  });`;
}
