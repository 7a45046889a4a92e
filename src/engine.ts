/**
 * The interface between the service and its storage. An engine keeps the state of every
 * organization. The service uses it through the stores of the domains and through this interface,
 * and never asks which engine it is. `open-engine.ts` chooses the engine of a deployment.
 */
import type { ActivityEntry } from "./activity/schema.ts";
import type { ActivityStore } from "./activity/store.ts";
import type { UnitOfWork } from "./activity/unit-of-work.ts";
import type { TicketRecords } from "./audit/shared-tickets.ts";
import type { AuditStore } from "./audit/store.ts";
import type { LoginThrottle } from "./auth/throttle.ts";
import type { CatalogCopy } from "./catalog/source.ts";
import type { Config } from "./config.ts";
import type { Awaitable } from "./core/caller.ts";
import type { Clock } from "./core/clock.ts";
import type { Log } from "./core/log.ts";
import type { FleetStore } from "./fleet/store.ts";
import type { StoredKey } from "./keys/schema.ts";
import type { KeyStore } from "./keys/store.ts";
import type { Organization } from "./organizations/schema.ts";
import type { OrganizationStore } from "./organizations/store.ts";
import type { PolicyStore } from "./policies/store.ts";
import type { SignedLogs } from "./signed-logs/store.ts";
import type { ProviderOverrideStore } from "./providers/store.ts";
import type { Exclusively } from "./rollouts/runner.ts";
import type { RolloutStore } from "./rollouts/store.ts";
import type { SettingsStore } from "./settings/store.ts";
import type { StoredUser } from "./users/schema.ts";
import type { UserStore } from "./users/store.ts";

/** The stores of the domains. */
export interface Stores {
  readonly organizations: OrganizationStore;
  readonly users: UserStore;
  readonly keys: KeyStore;
  readonly settings: SettingsStore;
  readonly overrides: ProviderOverrideStore;
  readonly policies: PolicyStore;
  readonly rollouts: RolloutStore;
  readonly fleet: FleetStore;
  readonly audit: AuditStore;
  readonly activity: ActivityStore;
}

/** The condition of an engine. */
export interface EngineHealth {
  /** The parts that cannot be written at present, by their names for users; empty if all can. */
  readonly unwritable: readonly string[];
  /** Whether some stored data cannot be read. */
  readonly isDegraded: boolean;
}

/** The figures of an engine for the metrics. */
export interface EngineFigures {
  readonly organizations: number;
  /** The runtimes of all organizations. */
  readonly fleet: { readonly online: number; readonly total: number };
  readonly audit: AuditFigures;
  /** Only if the engine signs the logs. */
  readonly signing?: SigningFigures;
  /** Only if the engine keeps files on this machine. */
  readonly files?: {
    /** Unreadable lines in the logs. */
    readonly damagedLines: number;
    /** Free space on the disk of the data directory. */
    readonly freeBytes: number;
  };
}

/** The signing of the logs of all organizations by this process. */
export interface SigningFigures {
  /** The lines of the logs that checkpoints vouch for. */
  readonly lines: number;
  /** Everything that was stored this many seconds ago is signed. */
  readonly lagSeconds: number;
  /** The logs that contradict their checkpoints, and are no longer signed. */
  readonly contradicted: number;
  /** The seconds since the oldest checkpoint waits for `checkpointUrl`; absent without one. */
  readonly deliveryLagSeconds?: number;
}

/** Counts of audit events in this process since its start. */
export interface AuditFigures {
  readonly stored: number;
  /** Events that had been stored before, and were answered with the stored event. */
  readonly repeated: number;
  readonly failed: number;
  /** Received events that are not answered yet. */
  readonly pending: number;
  /** Text that is not durable yet, in bytes if it is all ASCII. */
  readonly pendingBytes: number;
}

/** The files of one moment, under names that stay valid until they are released. */
export interface StagedFiles {
  readonly directory: string;
  readonly files: readonly { readonly path: string; readonly bytes: number }[];
  release(): Promise<void>;
}

/** The directory of an engine that keeps files on this machine. */
export interface EngineDirectory {
  /** The socket through which commands on this machine reach the server of the directory. */
  readonly socketPath: string;
  /** Names the files of this moment, for a backup. */
  stage(): Promise<StagedFiles>;
}

/** The state of a demo that the engine keeps. */
export interface EngineDemo {
  /** The directory contains another deployment's data, is empty, or was seeded for a demo (milliseconds). */
  readonly found: "foreign" | "empty" | { readonly seededAt: number };
  /** Records that the demo was seeded at a moment (milliseconds). */
  markSeeded(seededAt: number): Promise<void>;
}

/** State that all servers of one database share; a server of the file engine keeps it in memory. */
export interface SharedState {
  /** Does work on one server at a time; `undefined` if another server is doing it. */
  readonly exclusively: Exclusively;
  readonly throttle: LoginThrottle;
  readonly tickets: TicketRecords;
}

/** The records of an organization that are replaced as a whole; users and keys are sorted oldest first. */
export interface OrganizationRecords {
  readonly organization: Organization;
  readonly users: readonly StoredUser[];
  readonly keys: readonly StoredKey[];
}

/**
 * The part of an engine through which the data of another engine is moved into it. It stores records
 * unchanged, whereas the stores would give them new dates and numbers and apply quotas. A failed call may
 * have stored the first of its records. The stores show the records after the engine is opened again.
 */
export interface EngineMove {
  /** The source of an unfinished move into this engine. While there is one, only a move can open it. */
  readonly unfinished: string | undefined;
  /** The number of other connected processes; 0 for a directory, since it is locked. */
  others(): Promise<number>;
  /** Marks the engine as the target of a move from a source, until `finish`. */
  begin(source: string): Promise<void>;
  /** Creates an organization, or replaces its records. */
  organization(records: OrganizationRecords): Promise<void>;
  /** Adds entries to the activity log, oldest first. */
  activity(organization: string, entries: readonly ActivityEntry[]): Promise<void>;
  /** Adds events to the audit log, as these lines of JSON. The next call need not wait for this one. */
  events(organization: string, lines: readonly Buffer[]): Promise<void>;
  /** Builds indexes and counters once all events are stored. Can be repeated. */
  build(): Promise<void>;
  /** The lines of all events of an organization in the order of ingest, in portions. */
  lines(organization: string): AsyncIterable<readonly Buffer[]>;
  /** Replaces the generated secret. */
  secret(secret: string): Promise<void>;
  /** The key that signs checkpoints, as PEM; `undefined` if none was drawn. */
  logKey(): Promise<string | undefined>;
  /** Replaces the key that signs checkpoints. */
  takeLogKey(pem: string): Promise<void>;
  /** Makes everything durable, and removes the mark. */
  finish(): Promise<void>;
}

/** Keeps the state of every organization. */
export interface Engine {
  readonly stores: Stores;
  /** The secret that signs tokens if the deployment does not set one. It is generated once and kept across restarts. */
  readonly secret: string;
  readonly catalogCopy: CatalogCopy;
  /** Present in a demo. */
  readonly demo?: EngineDemo;
  /** Present if the engine keeps files on this machine. */
  readonly directory?: EngineDirectory;
  /** The state that all servers share; present if several servers can share the engine. */
  readonly shared?: SharedState;
  /** Present if data can be moved into and out of the engine. */
  readonly move?: EngineMove;

  /** Present if the engine signs the logs. */
  readonly proofs?: SignedLogs;

  /** Makes a change and writes its activity entry as one unit. */
  readonly commit: UnitOfWork<Stores>;

  /** Returns the condition, and retries failed writes, at most once a second. */
  health(): Awaitable<EngineHealth>;

  /** The current figures; called at each scrape of the metrics. */
  figures(): Awaitable<EngineFigures>;

  /** Completes all writes, and releases all resources. */
  close(): Promise<void>;
}

/** Receives the writes and syncs of one append log. */
export interface LogObserver {
  /** Bytes were passed to the operating system. */
  readonly wrote: (bytes: number) => void;
  /** A sync ended after this many milliseconds, with the error if it failed. */
  readonly synced: (ms: number, error: Error | null) => void;
}

/** The parameters of opening an engine. */
export interface EngineParts {
  readonly config: Config;
  readonly now: Clock;
  readonly log: Log;
  /** Opens the target of a move, which may contain an unfinished move. */
  readonly isMove?: true;
  /** Counts the writes of an engine with append logs; absent if metrics are off. */
  readonly logs?: { readonly audit: LogObserver; readonly fleet: LogObserver } | undefined;
}

/** Opens an engine. Throws an Error with a message for users if it cannot be used. */
export type OpenEngine = (parts: EngineParts) => Promise<Engine>;
