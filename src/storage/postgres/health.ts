import type { EngineHealth } from "../../engine.ts";
import { clearTimeout, setTimeout } from "../../core/timers.ts";
import type { Database } from "./database.ts";
import type { LogSigner } from "./proof/signer.ts";

/** The time limit for the answer of the database. */
const PATIENCE_MS = 2_000;

/** Checks whether the database can be written. Concurrent callers share one check. */
export class DatabaseHealth {
  readonly #database: Database;
  readonly #signer: Pick<LogSigner, "isFailing"> | undefined;
  #checking: Promise<EngineHealth> | undefined;

  constructor(database: Database, signer?: Pick<LogSigner, "isFailing">) {
    this.#database = database;
    this.#signer = signer;
  }

  check(): Promise<EngineHealth> {
    this.#checking ??= this.#ask().finally(() => (this.#checking = undefined));
    return this.#checking;
  }

  async #ask(): Promise<EngineHealth> {
    const state = await withPatience(this.#state());
    const isUnsigned = state === "writable" && (await this.#signer?.isFailing()) === true;
    return {
      unwritable: state === "writable" ? [] : [`database (${state})`],
      isDegraded: state === "unreachable" || isUnsigned,
    };
  }

  async #state(): Promise<"writable" | "read-only" | "unreachable"> {
    try {
      const [row] = await this.#database.query<{ readonly: string }>(
        "SELECT current_setting('transaction_read_only') AS readonly",
      );
      if (row?.readonly === "off") return "writable";
      this.#database.reconnect(); // otherwise reads would continue on the old primary
      return "read-only";
    } catch {
      return "unreachable";
    }
  }
}

function withPatience<T>(answer: Promise<T>): Promise<T | "unreachable"> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve("unreachable"), PATIENCE_MS);
    answer.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
