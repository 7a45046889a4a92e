import type { NamedLog } from "../../../proof/log-name.ts";
import type { StoredTrees } from "../../../signed-logs/answers.ts";
import { proveLine, type LoggedLine, type ProvenLine } from "../../../signed-logs/prove.ts";
import type { Database } from "../database.ts";
import { rowWithId } from "./log-rows.ts";
import type { LogSigner } from "./signer.ts";
import { TreeRows } from "./tree-rows.ts";

/** The trees of a database. */
export function storedTreesOf(database: Database, signer: LogSigner): StoredTrees {
  return {
    verifierOf: (named) => signer.signerOf(named),
    treeOf: (named) => new TreeRows(database, named),
    find: (named, id) => find(database, named, id),
    signFor: (named) => signer.signFor(named),
  };
}

/** Proves that an event is part of a log of a database, which servers may be using; see `proveLine`. */
export async function proveStored(
  database: Database,
  named: NamedLog,
  wanted: string,
): Promise<ProvenLine> {
  const found = await find(database, named, wanted);
  return proveLine(new TreeRows(database, named), found, named, wanted);
}

async function find(
  database: Database,
  named: NamedLog,
  id: string,
): Promise<LoggedLine | undefined> {
  const found = await rowWithId(database, named, id);
  if (found === undefined) return undefined;
  const { row, line } = found;
  return { line: Buffer.from(line), index: () => new TreeRows(database, named).leafOf(row) };
}
