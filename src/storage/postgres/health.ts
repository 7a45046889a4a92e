import { clearTimeout, setTimeout } from "../../core/timers.ts";
import type { EngineHealth } from "../../engine.ts";
import type { Database } from "./database.ts";
import type { LogSigner } from "./proof/signer.ts";

/** The time limit for the answer of the database. */
const PATIENCE_MS = 2_000;

/** Checks whether the database can be written. Concurrent callers share one check. */
export function healthOf(
  database: Database,
  signer: Pick<LogSigner, "isFailing"> | undefined,
): () => Promise<EngineHealth> {
  let checking: Promise<EngineHealth> | undefined;
  const check = async (): Promise<EngineHealth> => {
    const state = await withPatience(stateOf(database));
    const isUnsigned = state === "writable" && (await signer?.isFailing()) === true;
    return {
      unwritable: state === "writable" ? [] : [`database (${state})`],
      isDegraded: state === "unreachable" || isUnsigned,
    };
  };
  return () => (checking ??= check().finally(() => (checking = undefined)));
}

async function stateOf(database: Database): Promise<"writable" | "read-only" | "unreachable"> {
  try {
    const [row] = await database.query<{ readonly: string }>(
      "SELECT current_setting('transaction_read_only') AS readonly",
    );
    if (row?.readonly === "off") return "writable";
    database.reconnect(); // otherwise reads would continue on the old primary
    return "read-only";
  } catch {
    return "unreachable";
  }
}

function withPatience<T>(answer: Promise<T>): Promise<T | "unreachable"> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve("unreachable"), PATIENCE_MS);
    answer.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
