/** The thread that makes sidecars; `index-threads.ts` passes it one segment after another. */
import { parentPort } from "node:worker_threads";
import { systemFiles } from "../../../file-operations.ts";
import { remakeSidecar, type SegmentWithout } from "./writer.ts";

/** Nothing else runs on this thread, so it reads synchronously, without the thread pool. */
const files = {
  ...systemFiles,
  read: async (descriptor: number, target: Uint8Array, position: number) =>
    systemFiles.readSync(descriptor, target, position),
};

parentPort?.on("message", (segment: SegmentWithout) => {
  remakeSidecar(files, segment).then(
    (isMade) => parentPort?.postMessage(isMade),
    () => parentPort?.postMessage(false), // the caller then rebuilds it, and reports the error
  );
});
