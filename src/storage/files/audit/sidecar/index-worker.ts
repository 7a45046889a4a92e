/** The thread that makes sidecars; `index-threads.ts` passes it one segment after another. */
import { parentPort } from "node:worker_threads";
import { blockingFiles } from "../../../file-operations.ts";
import { remakeSidecar, type SegmentWithout } from "./writer.ts";

parentPort?.on("message", (segment: SegmentWithout) => {
  remakeSidecar(blockingFiles, segment).then(
    (isMade) => parentPort?.postMessage(isMade),
    () => parentPort?.postMessage(false), // the caller then rebuilds it, and reports the error
  );
});
