/** A separate process that takes a lock on command, reports it, and keeps it until it is killed. */
import { once } from "node:events";
import { systemFiles } from "../../src/storage/file-operations.ts";
import { Layout } from "../../src/storage/layout.ts";
import { acquireLock } from "../../src/storage/lock.ts";

await once(process.stdin, "data");
const layout = new Layout(String(process.argv[2]));
await acquireLock(systemFiles, layout, () => 0).then(
  () => console.log("taken"),
  (error: Error) => console.log(error.message),
);
