/** The thread that examines costly documents, one after another. */
import { parentPort } from "node:worker_threads";
import { BEGUN, examine, type Question } from "./examine.ts";

parentPort?.on("message", (question: Question) => {
  parentPort?.postMessage(BEGUN);
  const examined = examine(question);
  const { document } = examined;
  parentPort?.postMessage({ ...examined, document: question.wantsDocument ? document : undefined });
});
