import type { Clock } from "../core/clock.ts";
import { NotFound } from "../core/errors.ts";
import { json, later, reply, type Reply } from "../http/reply.ts";
import { route } from "../http/route.ts";
import { runtimeIdOf } from "./identity.ts";
import { listing } from "./listing.ts";
import { heartbeatBody, registerBody } from "./report.ts";
import {
  fleetList,
  registerResult,
  runtimeDeleted,
  statusOk,
  type Heartbeat,
  type RegisterResult,
} from "./schema.ts";
import type { FleetStore } from "./store.ts";

interface Needs {
  readonly fleet: FleetStore;
  readonly now: Clock;
}

const OK = json(200, '{"status":"ok"}');

/** Both heartbeat paths: every runtime calls one of them all the time, so no promise is made here. */
function keepHeartbeat(
  { organization, body }: { readonly organization: string; readonly body: Heartbeat },
  { fleet, now }: Needs,
): Reply {
  return later((settle) =>
    fleet.heartbeat(organization, body, now(), (error) => settle(error, OK)),
  );
}

/** What both heartbeat paths are, but for the path itself. */
const heartbeat = {
  method: "POST",
  surfaces: ["public", "v1"],
  access: "runtime",
  tags: ["fleet"],
  body: heartbeatBody,
  replies: { 200: statusOk },
  refuses: [400, 429, 500],
  report: true,
  handle: keepHeartbeat,
} as const;

/** The routes of the fleet: reports from runtimes, and the list that people see. */
export const fleetRoutes = [
  route({
    method: "GET",
    path: "/fleet",
    surfaces: ["public", "v1"],
    access: "user",
    summary: "List the runtimes, most recently seen first",
    tags: ["fleet"],
    replies: { 200: fleetList },
    refuses: [500],
    async handle({ organization }, { fleet, now }: Needs) {
      return listing(await fleet.list(organization), now());
    },
  }),
  route({
    ...heartbeat,
    path: "/fleet/heartbeat",
    summary: "Report that a runtime is alive",
    description: "The first heartbeat of a name adds the runtime to the fleet.",
  }),
  route({
    ...heartbeat,
    path: "/runtime/heartbeat",
    summary: "Report that a runtime is alive (older path)",
    description: "Does the same as `/fleet/heartbeat`; kept for older runtimes.",
  }),
  route({
    method: "POST",
    path: "/runtime/register",
    surfaces: ["public", "v1"],
    access: "runtime",
    summary: "Register a runtime and learn its id",
    description: "Answers 201 for a new runtime and 200 for one that is known, which is updated.",
    tags: ["fleet"],
    body: registerBody,
    replies: { 200: registerResult, 201: registerResult },
    refuses: [400, 429, 500],
    report: true,
    handle({ organization, body }, { fleet, now }: Needs) {
      const { name } = body;
      const runtimeId = runtimeIdOf(organization, name);
      const result: RegisterResult = { name, runtimeId, status: "registered" };
      return later((settle) =>
        fleet.heartbeat(organization, body, now(), (error, isNew) =>
          settle(error, reply(isNew ? 201 : 200, result)),
        ),
      );
    },
  }),
  route({
    method: "DELETE",
    path: "/fleet/{name}",
    surfaces: ["v1"],
    access: "user",
    summary: "Forget a runtime",
    description: "A runtime that still runs comes back with its next heartbeat, under the same id.",
    tags: ["fleet"],
    params: { name: "The runtime's name." },
    replies: { 200: runtimeDeleted },
    refuses: [404, 500],
    change: {
      action: "runtime.forget",
      target: ({ params }) => ({ type: "runtime", id: params.name.trim() }),
    },
    async handle({ organization, params }, { fleet }: Needs) {
      const isForgotten = await fleet.forget(organization, params.name.trim());
      if (!isForgotten) throw new NotFound(`No runtime is named "${params.name}"`);
      return { id: params.name, status: "deleted" };
    },
  }),
];
