import type { EngineHealth } from "../../engine.ts";
import { clearTimeout, setTimeout } from "../../core/timers.ts";
import type { Database } from "./database.ts";

/** The time limit for the answer of the database. */
const PATIENCE_MS = 2_000;

/** Checks whether the database can be written. Concurrent callers share one check. */
export class DatabaseHealth {
  readonly #database: Database;
  #checking: Promise<EngineHealth> | undefined;

  constructor(database: Database) {
    this.#database = database;
  }

  check(): Promise<EngineHealth> {
    this.#checking ??= this.#ask().finally(() => (this.#checking = undefined));
    return this.#checking;
  }

  async #ask(): Promise<EngineHealth> {
    const state = await withPatience(this.#state());
    return {
      unwritable: state === "writable" ? [] : [`database (${state})`],
      isDegraded: state === "unreachable",
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
