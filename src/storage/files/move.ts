/** Takes the data of another engine into a data directory. */
import { streamPosition } from "../../audit/positions.ts";
import { isObject } from "../../core/validate.ts";
import type { EngineMove, OrganizationRecords } from "../../engine.ts";
import { pemOf } from "../../proof/note.ts";
import { writeSecret } from "../data-directory.ts";
import { makeDurableDirectory } from "../directories.ts";
import type { FileOperations } from "../file-operations.ts";
import type { Layout } from "../layout.ts";
import { readSnapshot, replaceFile, syncDirectory, writeSnapshot } from "../snapshot.ts";
import type { FileActivity } from "./activity.ts";
import type { FileAuditStore } from "./audit.ts";
import { foreignLine } from "./audit/write/lines.ts";
import { readLogKey } from "./proof/log-key.ts";

/** The stores that accept records unchanged. */
export interface MoveStores {
  readonly activity: Pick<FileActivity, "append">;
  readonly audit: Pick<FileAuditStore, "appendLines" | "tail" | "usage">;
}

/** The most events, and bytes of them, that are in memory at a time. */
const PORTION_EVENTS = 4_000;
const PORTION_BYTES = 2 << 20;

/**
 * Reads the mark of an unfinished move.
 *
 * @throws Error if there is a mark, unless a move opens the directory
 */
export async function readUnfinishedMove(
  files: FileOperations,
  layout: Layout,
  isMove: boolean,
): Promise<string | undefined> {
  const mark = await readSnapshot(files, layout.unfinishedMove);
  if (mark === undefined) return undefined;
  if (!isMove) {
    const wayOut = 'run the same "signalbox move" again, or remove the directory';
    throw new Error(`The data directory "${layout.root}" holds an unfinished move: ${wayOut}`);
  }
  return isObject(mark) ? String(mark["source"]) : "";
}

/** The part of the engine that takes the data of another engine. */
export function moveOf(
  files: FileOperations,
  layout: Layout,
  unfinished: string | undefined,
  { activity, audit }: MoveStores,
): EngineMove {
  return {
    unfinished,
    others: async () => 0,
    begin: (source) => writeSnapshot(files, layout.unfinishedMove, { source }),
    organization: (records) => writeRecords(files, layout, records),
    async activity(organization, entries) {
      await Promise.all(entries.map((entry) => activity.append(organization, entry)));
    },
    events: (organization, lines) => audit.appendLines(organization, lines),
    build: async () => {},
    lines: (organization) => linesOf(audit, organization),
    secret: (secret) => writeSecret(files, layout, secret),
    async logKey() {
      const key = await readLogKey(files, layout);
      return key && pemOf(key);
    },
    takeLogKey: (pem) => replaceFile(files, layout.logKey, Buffer.from(pem)),
    async finish() {
      await files.remove(layout.unfinishedMove);
      await syncDirectory(files, layout.root);
    },
  };
}

/** Writes the files of an organization; the stores read them when the directory is opened again. */
async function writeRecords(
  files: FileOperations,
  layout: Layout,
  { organization, users, keys }: OrganizationRecords,
): Promise<void> {
  const paths = layout.organization(organization.id);
  await makeDurableDirectory(files, paths.directory, layout.root);
  await writeSnapshot(files, paths.organization, organization); // first: other files without this one count as damage
  await writeSnapshot(files, paths.users, { users });
  await writeSnapshot(files, paths.apiKeys, { api_keys: keys });
}

/** See `EngineMove.lines`. */
async function* linesOf(
  audit: MoveStores["audit"],
  organization: string,
): AsyncGenerator<readonly Buffer[]> {
  let { events: left } = await audit.usage(organization);
  if (left === 0) return;
  const { signal } = new AbortController();
  const tail = await audit.tail(organization, {}, streamPosition(0));
  let portion: Buffer[] = [];
  let bytes = 0;
  for await (const arrived of tail.arrivals(signal)) {
    // A line that was edited to the same length after its segment was sealed still has its row.
    const fault = foreignLine(
      arrived.map(({ json }) => json),
      organization,
    );
    if (fault !== undefined) throw fault;
    for (const { json } of arrived) {
      portion.push(json);
      bytes += json.length;
    }
    left -= arrived.length;
    if (left > 0 && portion.length < PORTION_EVENTS && bytes < PORTION_BYTES) continue;
    yield portion;
    [portion, bytes] = [[], 0];
    if (left <= 0) return; // otherwise the tail would wait for further events
  }
}
