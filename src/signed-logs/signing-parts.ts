import type { Clock } from "../core/clock.ts";
import type { Log } from "../core/log.ts";
import { CheckpointDelivery, type DeliveredLogs } from "./checkpoint-delivery.ts";
import { KeptCopies } from "./kept-copies.ts";
import type { Wait } from "./paced-work.ts";
import {
  readSigningKeys,
  type KeptKey,
  type KeySettings,
  type SigningKeys,
} from "./signing-keys.ts";
import type { SignedLogs } from "./store.ts";

/** The settings of signed logs. */
interface SigningSettings extends KeySettings {
  readonly baseUrl: string | undefined;
  readonly checkpointSeconds: number;
  readonly checkpointFile: string | undefined;
  readonly checkpointUrl: string | undefined;
}

/** The parts that an engine brings to its signing. */
interface SigningEngine {
  readonly now: Clock;
  readonly log: Log;
  readonly key: KeptKey;
  readonly keep: DeliveredLogs["keep"];
  /** The answers from the trees; `undefined` until the signing has begun. */
  readonly proofs: () => SignedLogs | undefined;
}

/** The parts of signing that do not depend on where logs are stored. */
export interface SigningParts {
  readonly keys: SigningKeys;
  /** The first part of the names of all logs. */
  readonly host: string;
  readonly seconds: number;
  /** A file that gets a copy of every checkpoint that this server signs. */
  readonly copies?: KeptCopies | undefined;
  /** Sends every checkpoint that this server signs to another machine. */
  readonly delivery?:
    | Pick<CheckpointDelivery, "add" | "isLate" | "lagSeconds" | "close">
    | undefined;
  /** Tests replace it. */
  readonly wait?: Wait;
}

/**
 * Reads the keys, and prepares the places outside of the engine that get checkpoints.
 *
 * @throws ConfigError naming the setting of a key that cannot be read
 */
export async function openSigningParts(
  settings: SigningSettings,
  { now, log, key, keep, proofs }: SigningEngine,
): Promise<SigningParts> {
  const { checkpointFile: file, checkpointUrl: url } = settings;
  const { baseUrl } = settings;
  const host = baseUrl === undefined ? "signalbox" : new URL(baseUrl).host;
  const prove: DeliveredLogs["prove"] = async (named, from, to) =>
    proofs()?.consistency(named, from, to);
  return {
    keys: await readSigningKeys(settings, key),
    host,
    seconds: settings.checkpointSeconds,
    copies: file ? new KeptCopies(file) : undefined,
    delivery: url
      ? new CheckpointDelivery({ url, now, log, host, logs: { keep, prove } })
      : undefined,
  };
}
