import type { Writable } from "node:stream";
import { STREAM_TYPE } from "../audit/stream.ts";
import { Refusal } from "../core/errors.ts";
import { string } from "../core/schema-parts.ts";
import { json, StreamReply } from "../http/reply.ts";
import { route } from "../http/route.ts";
import { askerOf } from "../policies/check.ts";
import { beginReplay, type Replay, type ReplayNeeds } from "./replay.ts";
import { policyReplayReport } from "./report.ts";
import { policyReplay } from "./schema.ts";

const PERCENT = 100;
const UNBUFFERED = ["X-Accel-Buffering", "no"] as const;

/** The route that decides recorded events by a policy. */
export const replayRoutes = [
  route({
    method: "POST",
    path: "/policies/replay",
    surfaces: ["public", "v1"],
    access: "user",
    keys: "policy.try",
    role: "viewer",
    summary: "Replay a policy over recorded events",
    description:
      "Decides every event that matches the filters, and counts the decisions that change. Nothing is stored. With `Accept: text/event-stream` the answer is a stream: `progress` events with `evaluated` and `total`, then one `result` event with the report, or one `error` event with an Error.",
    tags: ["policies"],
    headers: { accept: string("The accepted media types.") },
    body: policyReplay,
    question: true,
    replies: { 200: [policyReplayReport, STREAM_TYPE] },
    replyHeaders: {
      "X-Accel-Buffering": "`no` with a stream: a proxy is not to hold events back.",
    },
    refuses: [400, 404, 500, 503],
    async handle({ organization, actor, client, headers, body }, needs: ReplayNeeds) {
      const waiting = { ...askerOf(client, actor), isAllowed: client.acceptance() };
      const replay = await beginReplay(needs, waiting, organization, body);
      if (!/\btext\/event-stream\b/i.test(headers.accept ?? "")) {
        return json(200, Buffer.from((await replay.run()).report));
      }
      const send = (output: Writable): Promise<void> => sendReplay(replay, output);
      return new StreamReply(STREAM_TYPE, UNBUFFERED, send, () => replay.close());
    },
  }),
];

/** Runs a replay, and sends its progress at each percent, and its result. */
async function sendReplay(replay: Replay, output: Writable): Promise<void> {
  const send = (event: string, data: string): void => {
    output.write(`event: ${event}\ndata: ${data}\n\n`);
  };
  let sent = -1;
  try {
    const { report } = await replay.run((evaluated, total) => {
      const percent = Math.floor((PERCENT * evaluated) / Math.max(total, 1));
      if (percent > sent) send("progress", JSON.stringify({ evaluated, total }));
      sent = Math.max(sent, percent);
    });
    send("result", Buffer.from(report).toString("utf8"));
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    send("error", JSON.stringify({ error: error.message }));
  }
}
