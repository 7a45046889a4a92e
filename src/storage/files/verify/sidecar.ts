import type { FileOperations } from "../../file-operations.ts";
import { readExactly, withFileIfAny } from "../../file-ranges.ts";
import { ReadFiles } from "../../read-files.ts";
import { SealedIndex } from "../audit/index/sealed-index.ts";
import { decodeHeader, HEADER_BYTES, MAGIC } from "../audit/sidecar/format.ts";
import type { VerifyReport } from "./report.ts";

/** Checks the index of a segment: its checksums, and that it has one row for each event of the log. */
export async function verifySidecar(
  files: FileOperations,
  path: string,
  log: string,
  events: number,
  report: VerifyReport,
): Promise<void> {
  const segment = Number(/(\d{12})\.idx$/.exec(path)?.[1]);
  const { size } = await files.stat(log);
  const reads = new ReadFiles(files);
  const index = await report.reading(path, () =>
    SealedIndex.open(files, reads, path, segment, size),
  );
  if (!index) {
    if (await isOfOtherVersion(files, path)) {
      report.note(path, "is of another version, and is made again when it is needed");
    } else {
      report.problem(path, "is damaged, or belongs to a log of another length; it is only a cache");
    }
    return;
  }
  try {
    if (index.rows !== events) {
      report.problem(path, `has ${index.rows} rows, its log ${events} events; it is only a cache`);
    }
    await report.reading(path, () => index.checkRest());
  } finally {
    await index.close();
  }
}

async function isOfOtherVersion(files: FileOperations, path: string): Promise<boolean> {
  const isOther = await withFileIfAny(files, path, async (descriptor, size) => {
    if (size < HEADER_BYTES) return false;
    const header = await readExactly(files, descriptor, 0, HEADER_BYTES);
    const isOurs = header.toString("latin1", 0, MAGIC.length) === MAGIC;
    return isOurs && decodeHeader(header) === undefined;
  });
  return isOther === true;
}
