/**
 * Runs a program and watches its event loop: `watched.ts FILE PROGRAM`. `SIGUSR2` writes the longest turn since the last
 * signal into the file, as JSON.
 */
import { renameSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { LoopWatch } from "./loop-watch.ts";

const [file = "", program = ""] = process.argv.splice(2);
const watch = new LoopWatch();
process.on("SIGUSR2", () => {
  writeFileSync(`${file}.new`, JSON.stringify(watch.take()));
  renameSync(`${file}.new`, file); // so that a reader finds it whole
});
await import(pathToFileURL(program).href);
