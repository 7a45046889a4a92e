import { integer, string, word } from "../core/schema-parts.ts";
import type { Awaitable } from "../core/caller.ts";
import type { Clock } from "../core/clock.ts";
import { BadInput, NotFound } from "../core/errors.ts";
import type { Quotas } from "../core/quota.ts";
import { json, later, reply, type Reply } from "../http/reply.ts";
import { route, type Surface } from "../http/route.ts";
import { runtimeIdOf } from "./identity.ts";
import { inSlices, listing } from "./listing.ts";
import { FLEET_SORTS, fleetOrder } from "./order.ts";
import { heartbeatBody, registerBody } from "./report.ts";
import {
  fleetList,
  fleetSummary,
  registerResult,
  RUNTIME_NAME,
  runtimeDeleted,
  STATUSES,
  statusOk,
  type Heartbeat,
  type RegisterResult,
} from "./schema.ts";
import { LAST_SORTED, sortedPage } from "./sorting.ts";
import type { FleetStore } from "./store.ts";
import { readSummary } from "./summary.ts";

interface Needs {
  readonly fleet: FleetStore;
  readonly policies: { activeVersion(organization: string): Awaitable<string> };
  readonly now: Clock;
  readonly quotas: Pick<Quotas, "runtimes">;
}

/** The most runtimes on a page; without `limit` there is no bound. */
const MOST_ON_PAGE = 10_000;

const SORT_TOO_FAR = `sort: needs a limit, and offset and limit of at most ${LAST_SORTED} together`;

/** The parts of a handler's input that both heartbeat paths use. */
interface Report {
  readonly organization: string;
  readonly surface: Surface;
  readonly body: Heartbeat;
}

const OK = json(200, '{"status":"ok"}');

/** Stores a heartbeat, for both paths. */
function keepHeartbeat(
  { organization, surface, body }: Report,
  { fleet, now, quotas }: Needs,
): Promise<Reply> {
  const quota = quotas.runtimes(surface);
  return later((settle) =>
    fleet.heartbeat(organization, body, now(), (error) => settle(error, OK), quota),
  );
}

/** The row of both heartbeat paths, without the path itself. */
const heartbeat = {
  method: "POST",
  surfaces: ["public", "v1"],
  access: "user",
  keys: "fleet.report",
  role: "operator",
  tags: ["fleet"],
  body: heartbeatBody,
  replies: { 200: statusOk },
  refuses: [400, 429, 500],
  report: true,
  handle: keepHeartbeat,
} as const;

/** The routes of the fleet: reports from runtimes, and the list for users. */
export const fleetRoutes = [
  route({
    method: "GET",
    path: "/fleet",
    surfaces: ["public", "v1"],
    access: "user",
    summary: "List the runtimes, most recently seen first",
    description: "A runtime must match every parameter.",
    tags: ["fleet"],
    large: "sent",
    query: {
      q: string("Text in the name, host, system, version or policy version, in any letter case."),
      name: string("The exact name of a runtime."),
      status: word("The status of the runtimes.", STATUSES),
      policy_version: string("The policy version that the runtimes report."),
      drifted: word(
        "`true` selects runtimes that are not offline and report another version than the active one; `false` selects all others.",
        ["true", "false"],
      ),
      sort: word(
        `The order of the runtimes; a \`-\` before it reverses it. The default is most recently seen first. Takes a \`limit\`, and reaches the first ${LAST_SORTED} runtimes.`,
        FLEET_SORTS,
      ),
      limit: integer(
        "The maximum number of runtimes in the list. With a limit, the response contains `total`.",
        { minimum: 1, maximum: MOST_ON_PAGE },
      ),
      offset: integer("The number of matching runtimes to skip.", {
        minimum: 0,
        default: 0,
      }),
    },
    replies: { 200: fleetList },
    refuses: [500],
    async handle({ organization, query, client }, { fleet, policies, now }: Needs) {
      const { limit, offset, sort, ...filter } = query;
      const needsActive = filter.drifted !== undefined || sort?.endsWith("drifted");
      const active = needsActive ? await policies.activeVersion(organization) : "";
      const at = now();
      const wanted = { ...filter, active, now: at };
      const most = limit ?? Infinity;
      if (sort !== undefined) {
        if (offset + most > LAST_SORTED) throw new BadInput(SORT_TOO_FAR);
        const order = fleetOrder(sort, wanted);
        const rows = fleet.list(organization, wanted);
        const sorted = await sortedPage(rows, order, most, offset, client.gone);
        return listing(inSlices(sorted.runtimes), at, sorted.total);
      }
      if (limit === undefined && offset === 0) return listing(fleet.list(organization, wanted), at);
      const page = await fleet.page(organization, wanted, most, offset, client.gone);
      return listing(inSlices(page.runtimes), at, limit === undefined ? undefined : page.total);
    },
  }),
  route({
    method: "GET",
    path: "/fleet/summary",
    large: "made",
    surfaces: ["public", "v1"],
    access: "user",
    summary: "Count the runtimes by status and by policy version",
    description:
      "The numbers of online, idle, offline and drifted runtimes, and of the runtimes with each policy version.",
    tags: ["fleet"],
    replies: { 200: fleetSummary },
    refuses: [500],
    handle: ({ organization }, needs: Needs) => readSummary(needs, organization, needs.now()),
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
    description: "An alias of `/fleet/heartbeat` for older runtimes.",
  }),
  route({
    method: "POST",
    path: "/runtime/register",
    surfaces: ["public", "v1"],
    access: "user",
    keys: "fleet.report",
    role: "operator",
    summary: "Register a runtime and learn its id",
    description: "The status is 201 for a new runtime, and 200 for a known one, which is updated.",
    tags: ["fleet"],
    body: registerBody,
    replies: { 200: registerResult, 201: registerResult },
    refuses: [400, 429, 500],
    report: true,
    holdsBody: true,
    handle({ organization, surface, body }, { fleet, now, quotas }: Needs) {
      const { name } = body;
      const quota = quotas.runtimes(surface);
      const runtimeId = runtimeIdOf(organization, name);
      const result: RegisterResult = { name, runtimeId, status: "registered" };
      return later((settle) =>
        fleet.heartbeat(
          organization,
          body,
          now(),
          (error, isNew) => settle(error, reply(isNew ? 201 : 200, result)),
          quota,
        ),
      );
    },
  }),
  route({
    method: "DELETE",
    path: "/fleet/{name}",
    surfaces: ["v1"],
    access: "user",
    role: "operator",
    summary: "Forget a runtime",
    description: "A running runtime returns with its next heartbeat, under the same id.",
    tags: ["fleet"],
    params: {
      name: string("The runtime's name.", { ruled: RUNTIME_NAME, examples: ["build-agent-7"] }),
    },
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
