/**
 * The seam between the service and its storage. An engine keeps the state of every organization; the
 * service reaches it through the stores of the domains and through this interface, and never asks which
 * engine it is. `stores.ts` chooses the engine of a deployment.
 */
import type { ActivityStore } from "./activity/store.ts";
import type { UnitOfWork } from "./activity/unit-of-work.ts";
import type { AuditStore } from "./audit/store.ts";
import type { CatalogCopy } from "./catalog/source.ts";
import type { Config } from "./config.ts";
import type { Awaitable } from "./core/caller.ts";
import type { Clock } from "./core/clock.ts";
import type { Log } from "./core/log.ts";
import type { FleetStore } from "./fleet/store.ts";
import type { KeyStore } from "./keys/store.ts";
import type { OrganizationStore } from "./organizations/store.ts";
import type { PolicyStore } from "./policies/store.ts";
import type { ProviderOverrideStore } from "./providers/store.ts";
import type { SettingsStore } from "./settings/store.ts";
import type { UserStore } from "./users/store.ts";

/** The stores of the domains. */
export interface Stores {
  readonly organizations: OrganizationStore;
  readonly users: UserStore;
  readonly keys: KeyStore;
  readonly settings: SettingsStore;
  readonly overrides: ProviderOverrideStore;
  readonly policies: PolicyStore;
  readonly fleet: FleetStore;
  readonly audit: AuditStore;
  readonly activity: ActivityStore;
}

/** Whether an engine can do its work. */
export interface EngineHealth {
  /** The parts that cannot be written at present, each by its name for people; empty while all can. */
  readonly unwritable: readonly string[];
  /** Whether something that is stored cannot be read. */
  readonly isDegraded: boolean;
}

/** What an engine counts for the metrics. */
export interface EngineFigures {
  readonly organizations: number;
  /** The runtimes of all organizations. */
  readonly fleet: { readonly online: number; readonly total: number };
  readonly audit: AuditFigures;
  /** Only of an engine that keeps files on this machine. */
  readonly files?: {
    /** Lines of the logs that could not be read back. */
    readonly damagedLines: number;
    /** Free space where the data directory lies. */
    readonly freeBytes: number;
  };
}

/** What this process did with audit events since the start. */
export interface AuditFigures {
  readonly stored: number;
  /** Events that had been stored before, and were answered with what was stored. */
  readonly repeated: number;
  readonly failed: number;
  /** Events that were given and are not answered yet. */
  readonly pending: number;
  /** Text that is not safe yet, in bytes where it is all ASCII. */
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
  /** Where commands of this machine reach the server that has the directory. */
  readonly socketPath: string;
  /** Names the files of this moment, for a backup. */
  stage(): Promise<StagedFiles>;
}

/** The state of a demo that the engine keeps. */
export interface EngineDemo {
  /** Another deployment's data, nothing yet, or a demo that was seeded at a moment (milliseconds). */
  readonly found: "foreign" | "empty" | { readonly seededAt: number };
  /** Notes that the demo was seeded at a moment (milliseconds). */
  markSeeded(seededAt: number): Promise<void>;
}

/** Keeps the state of every organization. */
export interface Engine {
  readonly stores: Stores;
  /** Signs tokens where the deployment sets no secret. Drawn once, and the same after a restart. */
  readonly secret: string;
  readonly catalogCopy: CatalogCopy;
  /** Present in a demo. */
  readonly demo?: EngineDemo;
  /** Present where the engine keeps files on this machine. */
  readonly directory?: EngineDirectory;

  /** Makes a change and writes its activity entry as one unit. */
  readonly commit: UnitOfWork<Stores>;

  /** Tells how it is, and tries again to write what cannot be written, at most once a second. */
  health(): Awaitable<EngineHealth>;

  /** Counts at this moment; asked at each scrape of the metrics. */
  figures(): Awaitable<EngineFigures>;

  /** Writes what is left to write, and frees what it holds. */
  close(): Promise<void>;
}

/** Hears of the writes and syncs of one append log. */
export interface LogObserver {
  /** So many bytes were given to the operating system. */
  readonly wrote: (bytes: number) => void;
  /** A sync ended after so many milliseconds, with the error if it failed. */
  readonly synced: (ms: number, error: Error | null) => void;
}

/** What an engine is opened with. */
export interface EngineParts {
  readonly config: Config;
  readonly now: Clock;
  readonly log: Log;
  /** Counts the writes of an engine that has append logs; absent where nothing is counted. */
  readonly logs?: { readonly audit: LogObserver; readonly fleet: LogObserver } | undefined;
}

/** Opens an engine. Throws an Error for people when it cannot be used. */
export type OpenEngine = (parts: EngineParts) => Promise<Engine>;
