import { Worker, type WorkerOptions } from "node:worker_threads";

/**
 * Starts a thread with the module of a name beside the caller's: JavaScript in `dist`, TypeScript in
 * `src`.
 *
 * @param caller the caller's `import.meta.url`
 * @throws Error when this process may start no thread
 */
export function startThread(caller: string, name: string, options: WorkerOptions = {}): Worker {
  if (caller.endsWith(".js")) return new Worker(new URL(`./${name}.js`, caller), options);
  const source = new URL(`./${name}.ts`, caller).href;
  return new Worker(runFromSource(source), { ...options, eval: true });
}

/**
 * A script that runs TypeScript where threads do not inherit what the process was started with, as
 * on Node 20: it then registers the same loader for itself. Nothing that is built comes by here.
 */
function runFromSource(file: string): string {
  const loader = import.meta.resolve("tsx/esm/api");
  return `import(${JSON.stringify(file)}).catch(async (error) => {
    if (error.code !== "ERR_UNKNOWN_FILE_EXTENSION") throw error;
    (await import(${JSON.stringify(loader)})).register();
    await import(${JSON.stringify(`${file}?with-loader`)});
  });`;
}
