import type { Awaitable } from "./caller.ts";
import type { Labels } from "./labels.ts";

/** A runtime as far as assignments need it. */
export interface Assignee {
  readonly name: string;
  readonly labels?: Labels | undefined;
}

/** A started stage. A runtime must match everything that is given. */
export interface Selector {
  /** 1 to 100; 100 if absent. */
  readonly percent?: number | undefined;
  readonly labels?: Labels | undefined;
  readonly names?: ReadonlySet<string> | undefined;
}

/** An open rollout: the version that the runtimes of its started stages get. */
export interface OpenRollout {
  readonly id: string;
  readonly version: string;
  readonly stages: readonly Selector[];
}

/** The versions that the runtimes of an organization should have. */
export interface Expected {
  /** The active version; empty if none is active. */
  readonly active: string;
  readonly rollout?: OpenRollout | undefined;
}

/** Tells which version a runtime should have. */
export interface Assignments {
  expected(organization: string): Awaitable<Expected>;
  /** The version that is assigned to a runtime; empty without an active version. */
  assigned(organization: string, runtime: string): Awaitable<string>;
}
