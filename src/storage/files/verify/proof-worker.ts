/** The thread that checks logs against signed checkpoints; `proof-thread.ts` starts it. */
import { parentPort, workerData } from "node:worker_threads";
import { blockingFiles } from "../../file-operations.ts";
import { checkProofs, type ProofJob } from "./proof-thread.ts";

parentPort?.postMessage(await checkProofs(blockingFiles, workerData as ProofJob));
