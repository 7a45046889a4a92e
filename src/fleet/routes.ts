import { LABEL_FILTER, MOST_LABELS } from "../core/labels.ts";
import { integer, string, word } from "../core/schema-parts.ts";
import { assignedVersion } from "../core/assigned-version.ts";
import type { Assignee, Assignments } from "../core/assignment.ts";
import type { Clock } from "../core/clock.ts";
import { BadInput, NotFound, Unavailable } from "../core/errors.ts";
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
  readonly assignments: Assignments;
  readonly now: Clock;
  readonly quotas: Pick<Quotas, "runtimes" | "labels">;
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
function keepHeartbeat(report: Report, needs: Needs): Promise<Reply> {
  return keep(report, needs, (_, version) =>
    version === "" ? OK : json(200, `{"status":"ok","policy_version":${JSON.stringify(version)}}`),
  );
}

/**
 * Stores a report, then answers with the version that is assigned to the runtime. It is read after the report, whose
 * labels may change it. If it cannot be read at present, the answer lacks it: a 503 would say that the report is not stored.
 */
function keep(
  { organization, surface, body }: Report,
  { fleet, assignments, now, quotas }: Needs,
  answer: (isNew: boolean, version: string) => Reply,
): Promise<Reply> {
  return later((settle) =>
    fleet.heartbeat(
      organization,
      body,
      now(),
      (error, isNew = false) => {
        if (error) return settle(error);
        const version = assignments.assigned(organization, body.name);
        if (typeof version === "string") return settle(undefined, answer(isNew, version));
        version.then(
          (read) => settle(undefined, answer(isNew, read)),
          (fault) => {
            if (fault instanceof Unavailable) settle(undefined, answer(isNew, ""));
            else settle(fault);
          },
        );
      },
      quotas.runtimes(surface),
      quotas.labels(surface),
    ),
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
      label: {
        type: "array",
        items: { type: "string", ruled: LABEL_FILTER, examples: ["env:staging"] },
        maxItems: MOST_LABELS,
        description:
          "A label of the runtimes, as `key:value`. Repeat the parameter for runtimes that have several labels.",
      },
      drifted: word(
        "`true` selects runtimes that are not offline and report another version than the one assigned to them; `false` selects all others.",
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
    refuses: [400, 500],
    async handle({ organization, query, client }, { fleet, assignments, now }: Needs) {
      const { limit, offset, sort, ...filter } = query;
      const expected = await assignments.expected(organization);
      const wanted = { ...filter, ...expected, now: now() };
      const most = limit ?? Infinity;
      if (sort !== undefined) {
        if (offset + most > LAST_SORTED) throw new BadInput(SORT_TOO_FAR);
        const assignedTo = (runtime: Assignee) => assignedVersion(expected, runtime);
        const order = fleetOrder(sort, { now: wanted.now, assignedTo });
        const rows = await fleet.list(organization, wanted, client);
        const sorted = await sortedPage(rows, order, most, offset, client.gone);
        return listing(inSlices(sorted.runtimes, client.party), wanted, sorted.total);
      }
      if (limit === undefined && offset === 0)
        return listing(await fleet.list(organization, wanted, client), wanted);
      const page = await fleet.page(organization, wanted, most, offset, client);
      const total = limit === undefined ? undefined : page.total;
      return listing(inSlices(page.runtimes, client.party), wanted, total);
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
    handle: ({ organization, client }, needs: Needs) =>
      readSummary(needs, organization, needs.now(), client),
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
    handle(report, needs: Needs) {
      const { name } = report.body;
      const runtimeId = runtimeIdOf(report.organization, name);
      return keep(report, needs, (isNew, version) => {
        const assigned = version === "" ? undefined : version;
        const result = { name, runtimeId, status: "registered", policy_version: assigned };
        return reply(isNew ? 201 : 200, result satisfies RegisterResult);
      });
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
