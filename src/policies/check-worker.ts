/** The thread in which a large document is examined; `check.ts` starts it with one question. */
import { parentPort, workerData } from "node:worker_threads";
import { BEGUN, examine, type Question } from "./examine.ts";

parentPort?.postMessage(BEGUN);
parentPort?.postMessage(examine(workerData as Question));
