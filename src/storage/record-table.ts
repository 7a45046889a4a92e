/**
 * A table for a small number of records that are looked up often and change rarely. All of them are in memory; each
 * organization has one JSON snapshot, `{ "<name>": [record, …] }`.
 */
import { isObject } from "../core/validate.ts";
import type { FileOperations } from "./file-operations.ts";
import { inParallel } from "./parallel.ts";
import { damaged, readContent, readSnapshot, replaceByPieces, snapshotText } from "./snapshot.ts";
import type { UndoQueue } from "./undo-queue.ts";

/** The fields of every record of a table. */
export interface TableRecord {
  readonly id: string;
  readonly organization_id: string;
}

/** The differences between tables. */
export interface TableOptions<T> {
  /** The list's name within the file. */
  readonly name: string;
  /** The file of an organization. */
  readonly pathOf: (organization: string) => string;
  /** Checks a stored record; throws `BadInput` for a malformed one. */
  readonly read: (value: unknown, place: string) => T;
}

const NONE: readonly never[] = [];
/** Longer lists are written in parts, so that other requests are served in between. */
const RECORDS_AT_ONCE = 100;

/** Stores one kind of record for all organizations. Changes are made within tasks of the queue. */
export class RecordTable<T extends TableRecord> {
  readonly #files: FileOperations;
  readonly #queue: UndoQueue;
  readonly #options: TableOptions<T>;
  readonly #records = new Map<string, readonly T[]>();
  readonly #byId = new Map<string, T>();

  private constructor(files: FileOperations, queue: UndoQueue, options: TableOptions<T>) {
    this.#files = files;
    this.#queue = queue;
    this.#options = options;
  }

  /**
   * Reads the records of the given organizations.
   *
   * @throws Error naming the file that is damaged, and the way out
   */
  static async open<T extends TableRecord>(
    files: FileOperations,
    queue: UndoQueue,
    options: TableOptions<T>,
    organizations: readonly string[],
  ): Promise<RecordTable<T>> {
    const table = new RecordTable(files, queue, options);
    await inParallel(organizations, (organization) => table.#load(organization));
    return table;
  }

  /** Every record of every organization. */
  all(): Iterable<T> {
    return this.#byId.values();
  }

  /** The records of an organization, oldest first. */
  list(organization: string): readonly T[] {
    return this.#records.get(organization) ?? NONE;
  }

  /** The record with an id, of any organization. */
  find(id: string): T | undefined {
    return this.#byId.get(id);
  }

  /** The record with an id, if it belongs to the organization. */
  get(organization: string, id: string): T | undefined {
    const record = this.#byId.get(id);
    return record?.organization_id === organization ? record : undefined;
  }

  /** Replaces an organization's records. The snapshot's rename commits; then memory is updated. */
  async commit(organization: string, records: readonly T[]): Promise<void> {
    const before = this.list(organization);
    await this.#queue.write(
      () => this.write(organization, records),
      () => this.write(organization, before),
    );
    this.adopt(organization, records);
  }

  /** Writes an organization's file without changing memory, for changes that another file commits. */
  write(organization: string, records: readonly T[]): Promise<void> {
    const { name, pathOf } = this.#options;
    return replaceByPieces(this.#files, pathOf(organization), snapshotOf(name, records));
  }

  /** Puts into memory the records that are on disk. */
  adopt(organization: string, records: readonly T[]): void {
    for (const { id } of this.list(organization)) this.#byId.delete(id);
    for (const record of records) this.#byId.set(record.id, record);
    this.#records.set(organization, records);
  }

  async #load(organization: string): Promise<void> {
    const { name, pathOf, read } = this.#options;
    const path = pathOf(organization);
    const snapshot = await readSnapshot(this.#files, path);
    if (snapshot === undefined) return;
    const list = isObject(snapshot) ? snapshot[name] : undefined;
    if (!Array.isArray(list)) throw damaged(path, `${name}: expected a list`);
    const records = readContent(path, () =>
      list.map((value, index) => read(value, `${name}[${index}]`)),
    );
    for (const [index, { id, organization_id }] of records.entries()) {
      const place = `${name}[${index}]`;
      if (organization_id !== organization) {
        throw damaged(path, `${place}.organization_id: belongs to another organization`);
      }
      if (this.#byId.has(id)) throw damaged(path, `${place}.id: exists twice`);
      this.#byId.set(id, records[index] as T);
    }
    this.#records.set(organization, records);
  }
}

/** The text of a snapshot, in pieces. */
function* snapshotOf(name: string, records: readonly TableRecord[]): Generator<Buffer> {
  const textOf = (some: readonly TableRecord[]): string => snapshotText({ [name]: some });
  if (records.length === 0) yield Buffer.from(textOf([]));
  const [head, tail] = [`{\n  "${name}": [`, "\n  ]\n}\n"];
  let lead = head;
  for (let at = 0; at < records.length; at += RECORDS_AT_ONCE) {
    const text = textOf(records.slice(at, at + RECORDS_AT_ONCE)).slice(head.length, -tail.length);
    const isLast = at + RECORDS_AT_ONCE >= records.length;
    yield Buffer.from(`${lead}${text}${isLast ? tail : ""}`);
    lead = ",";
  }
}
