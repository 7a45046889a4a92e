import type { Infer, Schema } from "../core/schema.ts";

/** Every status, best first. */
export const STATUSES = ["online", "idle", "offline"] as const;

/** A runtime's status, derived from the time since its last report. */
export type RuntimeStatus = (typeof STATUSES)[number];

/** The longest value of a field that describes a runtime; its name has its own rule. */
const MAX_FIELD = 1_024;

/** The names of runtimes: not white space alone. */
export const RUNTIME_NAME = { pattern: "\\S", minLength: 1, maxLength: 256 } as const;

const name = {
  type: "string",
  ruled: RUNTIME_NAME,
  description:
    "The runtime's stable name, unique within the organization: 1 to 256 characters, white space around it is dropped.",
  examples: ["build-agent-7"],
} as const satisfies Schema;

const hostname = {
  type: "string",
  maxLength: MAX_FIELD,
  description: "The machine it runs on.",
  examples: ["ci-07.example.com"],
} as const satisfies Schema;

const os = {
  type: "string",
  maxLength: MAX_FIELD,
  description: "That machine's operating system.",
  examples: ["linux"],
} as const satisfies Schema;

const version = {
  type: "string",
  maxLength: MAX_FIELD,
  description: "The runtime's own version.",
  examples: ["2.3.1"],
} as const satisfies Schema;

const policyVersion = {
  type: "string",
  maxLength: MAX_FIELD,
  description: "The policy version that the runtime evaluates.",
  examples: ["20261120T203000Z"],
} as const satisfies Schema;

/** A heartbeat; absent fields keep their value. */
export const heartbeat = {
  title: "Heartbeat",
  type: "object",
  description: "A runtime's sign of life. What it does not give keeps the value it had.",
  required: ["name"],
  properties: { name, hostname, os, version, policy_version: policyVersion },
} as const satisfies Schema;
export type Heartbeat = Infer<typeof heartbeat>;

/** A runtime's optional first contact. */
export const runtimeRegister = {
  title: "RuntimeRegister",
  type: "object",
  description: "A runtime's first contact. Optional: heartbeats alone make it part of the fleet.",
  required: ["name"],
  properties: { name, hostname, os, version },
} as const satisfies Schema;
export type RuntimeRegister = Infer<typeof runtimeRegister>;

/** The answer to a registration. */
export const registerResult = {
  title: "RegisterResult",
  type: "object",
  description: "The identity that a runtime was registered under.",
  required: ["name", "runtimeId", "status"],
  properties: {
    name,
    runtimeId: {
      type: "string",
      description: "Identifies the runtime; always the same for one name in one organization.",
    },
    status: { type: "string", description: "Always `registered`.", examples: ["registered"] },
  },
} as const satisfies Schema;
export type RegisterResult = Infer<typeof registerResult>;

/** The answer to a heartbeat. */
export const statusOk = {
  title: "StatusOK",
  type: "object",
  description: "The request was carried out; there is nothing more to say.",
  required: ["status"],
  properties: { status: { type: "string", description: "Always `ok`.", examples: ["ok"] } },
} as const satisfies Schema;

/** A runtime as the fleet shows it. */
export const runtimeInstance = {
  title: "RuntimeInstance",
  type: "object",
  description: "A runtime, as it last described itself.",
  required: ["name", "last_seen", "status"],
  properties: {
    name,
    hostname,
    os,
    version,
    policy_version: policyVersion,
    last_seen: {
      type: "string",
      format: "date-time",
      description: "When its last heartbeat or registration arrived.",
    },
    status: {
      type: "string",
      enum: STATUSES,
      description:
        "`online` when seen less than 15 minutes ago, `idle` when less than 24 hours ago, else `offline`.",
    },
  },
} as const satisfies Schema;
export type RuntimeInstance = Infer<typeof runtimeInstance>;

/** The organization's runtimes. */
export const fleetList = {
  title: "FleetList",
  type: "object",
  description: "The organization's runtimes, most recently seen first.",
  required: ["runtimes"],
  properties: {
    runtimes: {
      type: "array",
      items: runtimeInstance,
      description: "The runtimes, most recently seen first.",
    },
    total: {
      type: "integer",
      description: "Given with `limit`: how many runtimes match, on this page and on all others.",
    },
  },
} as const satisfies Schema;
export type FleetList = Infer<typeof fleetList>;

/** The number of runtimes that report a policy version. */
const policyVersionCount = {
  title: "PolicyVersionCount",
  type: "object",
  description: "How many runtimes report a policy version.",
  required: ["version", "runtimes", "present"],
  properties: {
    version: policyVersion,
    runtimes: { type: "integer", description: "Runtimes whose last report names it." },
    present: { type: "integer", description: "Those of them that are not offline." },
  },
} as const satisfies Schema;

/** The fleet in numbers. */
export const fleetSummary = {
  title: "FleetSummary",
  type: "object",
  description: "The organization's runtimes in numbers.",
  required: ["online", "idle", "offline", "drifted", "total", "policy_version", "policy_versions"],
  properties: {
    online: { type: "integer", description: "Runtimes seen less than 15 minutes ago." },
    idle: { type: "integer", description: "Others that were seen less than 24 hours ago." },
    offline: { type: "integer", description: "Those that were not." },
    drifted: {
      type: "integer",
      description:
        "Runtimes that are not offline and report another policy version than the active one.",
    },
    total: { type: "integer", description: "All runtimes." },
    policy_version: {
      type: "string",
      description: "The active policy version; empty when there is none.",
    },
    policy_versions: {
      type: "array",
      items: policyVersionCount,
      description: "The versions that runtimes report, those of most runtimes first: up to 1,000.",
    },
  },
} as const satisfies Schema;
export type FleetSummary = Infer<typeof fleetSummary>;

/** The answer to the removal of a runtime. */
export const runtimeDeleted = {
  title: "RuntimeDeleted",
  type: "object",
  description: "A runtime was forgotten.",
  required: ["id", "status"],
  properties: {
    id: { type: "string", description: "The name that the path gave." },
    status: { type: "string", description: "Always `deleted`.", examples: ["deleted"] },
  },
} as const satisfies Schema;
