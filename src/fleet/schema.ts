import { labelsSchema } from "../core/labels.ts";
import { always, dateTime, integer, list, object, string, word } from "../core/schema-parts.ts";
import type { Infer, Schema } from "../core/schema.ts";

/** Every status, best first. */
export const STATUSES = ["online", "idle", "offline"] as const;

/** A runtime's status, derived from the time since its last report. */
export type RuntimeStatus = (typeof STATUSES)[number];

/** The longest value of a field that describes a runtime; its name has its own rule. */
const MAX_FIELD = 1_024;

/** The names of runtimes: not only white space. */
export const RUNTIME_NAME = { pattern: "\\S", minLength: 1, maxLength: 256 } as const;

const name = string(
  "The runtime's permanent name, unique within the organization: 1 to 256 characters. White space around it is removed.",
  { ruled: RUNTIME_NAME, examples: ["build-agent-7"] },
);

const hostname = string("The host name of the machine.", {
  maxLength: MAX_FIELD,
  examples: ["ci-07.example.com"],
});

const os = string("The operating system of the machine.", {
  maxLength: MAX_FIELD,
  examples: ["linux"],
});

const version = string("The version of the runtime.", {
  maxLength: MAX_FIELD,
  examples: ["2.3.1"],
});

const policyVersion = string("The policy version that the runtime evaluates.", {
  maxLength: MAX_FIELD,
  examples: ["20261120T203000Z"],
});

const labels = labelsSchema(
  "The labels of the runtime, such as its team and environment. Given labels replace all earlier ones.",
);

/** A heartbeat; absent fields keep their value. */
export const heartbeat = {
  title: "Heartbeat",
  type: "object",
  description: "A heartbeat of a runtime. Fields that it leaves out keep their values.",
  required: ["name"],
  properties: { name, hostname, os, version, policy_version: policyVersion, labels },
} as const satisfies Schema;
export type Heartbeat = Infer<typeof heartbeat>;

/** A runtime's optional first contact. */
export const runtimeRegister = {
  title: "RuntimeRegister",
  type: "object",
  description: "A registration. It is optional: a heartbeat also adds the runtime to the fleet.",
  required: ["name"],
  properties: { name, hostname, os, version, labels },
} as const satisfies Schema;

const assignedPolicy = string(
  "The policy version that is assigned to the runtime; absent while no version is active, or if the database cannot be asked for it at present.",
  { examples: ["20261120T203000Z"] },
);

/** The answer to a registration. */
export const registerResult = object({
  title: "RegisterResult",
  description: "The identity of a registered runtime.",
  optional: ["policy_version"],
  properties: {
    name,
    runtimeId: string("The permanent id of this name in this organization."),
    status: always("registered"),
    policy_version: assignedPolicy,
  },
});
export type RegisterResult = Infer<typeof registerResult>;

/** The answer to a heartbeat. */
export const statusOk = object({
  title: "StatusOK",
  description: "The request succeeded.",
  optional: ["policy_version"],
  properties: { status: always("ok"), policy_version: assignedPolicy },
});

/** A runtime as the fleet shows it. */
const runtimeInstance = {
  title: "RuntimeInstance",
  type: "object",
  description: "A runtime and its last report.",
  required: ["name", "last_seen", "status"],
  properties: {
    name,
    hostname,
    os,
    version,
    policy_version: policyVersion,
    labels,
    assigned_version: string(
      "The version that an open rollout assigns to the runtime; absent if it should run the active one.",
      { examples: ["v2"] },
    ),
    last_seen: dateTime("The time of the last heartbeat or registration."),
    status: word(
      "`online` if seen less than 15 minutes ago, `idle` if less than 24 hours ago, otherwise `offline`.",
      STATUSES,
    ),
  },
} as const satisfies Schema;
export type RuntimeInstance = Infer<typeof runtimeInstance>;

/** The organization's runtimes. */
export const fleetList = object({
  title: "FleetList",
  description: "The runtimes of the organization, most recently seen first.",
  optional: ["total"],
  properties: {
    runtimes: list("The runtimes, most recently seen first.", runtimeInstance),
    total: integer("The number of matching runtimes on all pages; only with `limit`."),
  },
});
export type FleetList = Infer<typeof fleetList>;

/** The number of runtimes that report a policy version. */
const policyVersionCount = object({
  title: "PolicyVersionCount",
  description: "The numbers of runtimes with a policy version.",
  properties: {
    version: policyVersion,
    runtimes: integer("The number of runtimes whose last report names the version."),
    present: integer("The number of those runtimes that are not offline."),
  },
});

/** The fleet in numbers. */
export const fleetSummary = object({
  title: "FleetSummary",
  description: "The numbers of runtimes in the organization.",
  properties: {
    online: integer("The number of runtimes seen less than 15 minutes ago."),
    idle: integer("The number of other runtimes seen less than 24 hours ago."),
    offline: integer("The number of runtimes not seen for 24 hours."),
    drifted: integer(
      "The number of runtimes that are not offline and report another version than the one assigned to them.",
    ),
    total: integer("The number of all runtimes."),
    policy_version: string("The active policy version; empty without one."),
    policy_versions: list(
      "The reported versions, at most 1,000. The version with most runtimes comes first.",
      policyVersionCount,
    ),
  },
});
export type FleetSummary = Infer<typeof fleetSummary>;

/** The answer to the removal of a runtime. */
export const runtimeDeleted = object({
  title: "RuntimeDeleted",
  description: "The result of forgetting a runtime.",
  properties: { id: string("The name from the path."), status: always("deleted") },
});
