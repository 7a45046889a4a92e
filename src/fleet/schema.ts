import { always, dateTime, integer, list, object, string, word } from "../core/schema-parts.ts";
import type { Infer, Schema } from "../core/schema.ts";

/** Every status, best first. */
export const STATUSES = ["online", "idle", "offline"] as const;

/** A runtime's status, derived from the time since its last report. */
export type RuntimeStatus = (typeof STATUSES)[number];

/** The longest value of a field that describes a runtime; its name has its own rule. */
const MAX_FIELD = 1_024;

/** The names of runtimes: not white space alone. */
export const RUNTIME_NAME = { pattern: "\\S", minLength: 1, maxLength: 256 } as const;

const name = string(
  "The runtime's stable name, unique within the organization: 1 to 256 characters, white space around it is dropped.",
  { ruled: RUNTIME_NAME, examples: ["build-agent-7"] },
);

const hostname = string("The machine it runs on.", {
  maxLength: MAX_FIELD,
  examples: ["ci-07.example.com"],
});

const os = string("That machine's operating system.", {
  maxLength: MAX_FIELD,
  examples: ["linux"],
});

const version = string("The runtime's own version.", { maxLength: MAX_FIELD, examples: ["2.3.1"] });

const policyVersion = string("The policy version that the runtime evaluates.", {
  maxLength: MAX_FIELD,
  examples: ["20261120T203000Z"],
});

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
export const registerResult = object({
  title: "RegisterResult",
  description: "The identity that a runtime was registered under.",
  properties: {
    name,
    runtimeId: string("Identifies the runtime; always the same for one name in one organization."),
    status: always("registered"),
  },
});
export type RegisterResult = Infer<typeof registerResult>;

/** The answer to a heartbeat. */
export const statusOk = object({
  title: "StatusOK",
  description: "The request was carried out; there is nothing more to say.",
  properties: { status: always("ok") },
});

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
    last_seen: dateTime("When its last heartbeat or registration arrived."),
    status: word(
      "`online` when seen less than 15 minutes ago, `idle` when less than 24 hours ago, else `offline`.",
      STATUSES,
    ),
  },
} as const satisfies Schema;
export type RuntimeInstance = Infer<typeof runtimeInstance>;

/** The organization's runtimes. */
export const fleetList = object({
  title: "FleetList",
  description: "The organization's runtimes, most recently seen first.",
  optional: ["total"],
  properties: {
    runtimes: list("The runtimes, most recently seen first.", runtimeInstance),
    total: integer("Given with `limit`: how many runtimes match, on this page and on all others."),
  },
});
export type FleetList = Infer<typeof fleetList>;

/** The number of runtimes that report a policy version. */
const policyVersionCount = object({
  title: "PolicyVersionCount",
  description: "How many runtimes report a policy version.",
  properties: {
    version: policyVersion,
    runtimes: integer("Runtimes whose last report names it."),
    present: integer("Those of them that are not offline."),
  },
});

/** The fleet in numbers. */
export const fleetSummary = object({
  title: "FleetSummary",
  description: "The organization's runtimes in numbers.",
  properties: {
    online: integer("Runtimes seen less than 15 minutes ago."),
    idle: integer("Others that were seen less than 24 hours ago."),
    offline: integer("Those that were not."),
    drifted: integer(
      "Runtimes that are not offline and report another policy version than the active one.",
    ),
    total: integer("All runtimes."),
    policy_version: string("The active policy version; empty when there is none."),
    policy_versions: list(
      "The versions that runtimes report, those of most runtimes first: up to 1,000.",
      policyVersionCount,
    ),
  },
});
export type FleetSummary = Infer<typeof fleetSummary>;

/** The answer to the removal of a runtime. */
export const runtimeDeleted = object({
  title: "RuntimeDeleted",
  description: "A runtime was forgotten.",
  properties: { id: string("The name that the path gave."), status: always("deleted") },
});
