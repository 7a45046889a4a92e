import { Worker, type WorkerOptions } from "node:worker_threads";

/**
 * Starts a worker thread from a module next to the caller's: JavaScript in `dist`, TypeScript in `src`.
 *
 * @param caller the caller's `import.meta.url`
 * @throws Error if this process may not start threads
 */
export function startThread(caller: string, name: string, options: WorkerOptions = {}): Worker {
  if (caller.endsWith(".js")) return new Worker(new URL(`./${name}.js`, caller), options);
  const source = new URL(`./${name}.ts`, caller).href;
  return new Worker(runFromSource(source), { ...options, eval: true });
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
