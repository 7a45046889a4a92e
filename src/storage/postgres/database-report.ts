import type { CheckedLog, Findings } from "../../proof/evidence.ts";
import type { Database } from "./database.ts";

/** A finding about the rows of a table. */
export interface TableFinding {
  readonly table: string;
  readonly problem: string;
}

/** The most findings about one table. */
const MOST_OF_A_TABLE = 20;

/** The findings of a check of a database. */
export class DatabaseReport implements Findings {
  readonly problems: TableFinding[] = [];
  readonly notes: TableFinding[] = [];
  /** The logs that were checked against checkpoints. */
  readonly logs: CheckedLog[] = [];
  organizations = 0;
  events = 0;

  problem(table: string, problem: string): void {
    const known = this.problems.filter((one) => one.table === table).length;
    if (known < MOST_OF_A_TABLE) this.problems.push({ table, problem });
    else if (known === MOST_OF_A_TABLE) {
      this.problems.push({ table, problem: "and more of the like" });
    }
  }

  note(table: string, problem: string): void {
    this.notes.push({ table, problem });
  }
}

/** The check of one organization: the database, its id, and the report that takes the findings. */
export interface OrganizationCheck {
  readonly database: Database;
  readonly id: string;
  readonly report: DatabaseReport;
}
