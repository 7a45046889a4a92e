import { readdir } from "node:fs/promises";
import type { Config } from "../config.ts";
import { SECOND_MS } from "../core/clock.ts";
import { createLog } from "../core/log.ts";
import { printable } from "../core/printable.ts";
import { quantity } from "../core/quantity.ts";
import { pause, systemStopwatch } from "../core/timers.ts";
import type { Engine } from "../engine.ts";
import { systemFiles } from "../storage/file-operations.ts";
import { Layout } from "../storage/layout.ts";
import { ownerOf } from "../storage/lock.ts";
import { readFileIfAny } from "../storage/snapshot.ts";
import { openEngine } from "../open-engine.ts";
import { readArguments, required, text } from "./arguments.ts";
import { UsageError, type CliCommand, type Terminal } from "./command.ts";
import { requireDataDirectory } from "./require-data-directory.ts";
import { digestOf } from "./move/summary.ts";
import { move, type Moved, type Progress } from "./move/move.ts";
import { locationOf, renamed, type StorageLocation } from "./storage-location.ts";

/** How often other processes are looked for, and the time in between. */
const OTHERS_ASKED = 30;
const OTHERS_PAUSE_MS = 100;

export const moveCommand: CliCommand = {
  name: "move",
  usage: "--from SOURCE --to TARGET",
  summary: "Move everything from a data directory into a PostgreSQL database, or back",
  details: `  --from SOURCE   a data directory, or postgres://USER:PASSWORD@HOST:PORT/DATABASE
  --to TARGET     the other one of the two: a new or empty directory, or an empty database

Stop every server of both first. The source is not changed. If the command was interrupted, run
it again: it continues where it stopped. At the end it compares both, record by record, and the
exit code is 1 if anything differs. A server can start on the target once the move is complete.`,
  async run(args, terminal) {
    const { values } = readArguments(args, { from: text, to: text });
    const from = locationOf("--from", required("from", values.from));
    const to = locationOf("--to", required("to", values.to));
    if (!from.isDatabase && !to.isDatabase) {
      throw new UsageError("--to: expected a database, copy a directory by backup and restore");
    }
    if (!from.isDatabase) await checkSource(from.config);
    if (!to.isDatabase) await checkTarget(to.config);
    const source = await open(from, terminal);
    let moved: readonly Moved[];
    let damaged = 0;
    try {
      moved = await move(source, () => open(to, terminal, true), progressOf(terminal));
      damaged = (await source.figures()).files?.damagedLines ?? 0;
    } finally {
      await source.close();
    }
    tell(moved, damaged, terminal);
    return moved.every(({ differences }) => differences.length === 0) ? 0 : 1;
  },
};

async function checkSource({ dataDir }: Config): Promise<void> {
  const layout = new Layout(dataDir);
  await requireDataDirectory(layout);
  const owner = await ownerOf(systemFiles, layout);
  if (owner === undefined) return;
  throw new Error(`--from: "${dataDir}" is in use by ${owner}: stop that server first`);
}

/** Refuses a target with other files: the moved files would be mixed with them. */
async function checkTarget({ dataDir }: Config): Promise<void> {
  const names = await readdir(dataDir).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  const isOurs = await readFileIfAny(systemFiles, new Layout(dataDir).format).then(Boolean);
  if (names.length === 0 || isOurs) return;
  throw new Error(`--to: "${dataDir}" is not empty: give a new or empty directory`);
}

async function open(
  { option, config, isDatabase }: StorageLocation,
  terminal: Terminal,
  isMove?: true,
): Promise<Engine> {
  const { now } = terminal;
  const log = createLog("silent", now, () => {});
  const engine = await openEngine({ config, now, log, ...(isMove && { isMove }) }).catch(
    (error: unknown) => {
      throw renamed(error, option);
    },
  );
  const others = isDatabase ? await othersOn(engine) : 0;
  if (others === 0) return engine;
  await engine.close();
  const processes = others === 1 ? "another process" : `${others} other processes`;
  throw new Error(
    `${option}: the database is in use by ${processes} of Signalbox: stop every server`,
  );
}

/** The other processes that use the database. One that has just ended is seen for a moment more. */
async function othersOn(engine: Engine): Promise<number> {
  for (let left = OTHERS_ASKED; ; left--) {
    const others = (await engine.move?.others()) ?? 0;
    if (others === 0 || left === 1) return others;
    await pause(OTHERS_PAUSE_MS);
  }
}

/** Prints the progress, at most once a second. */
function progressOf(terminal: Terminal): Progress {
  let last = -Infinity;
  return (text) => {
    const now = systemStopwatch();
    if (now - last < SECOND_MS) return;
    last = now;
    terminal.error(`${printable(text)}\n`);
  };
}

function tell(moved: readonly Moved[], damaged: number, { out, error }: Terminal): void {
  if (damaged > 0) {
    error(`${damaged} damaged lines of the source are not moved: see "signalbox verify"\n`);
  }
  for (const { id, summary, differences } of moved) {
    for (const difference of differences) error(`${printable(`${id}: ${difference}`)}\n`);
    if (differences.length > 0) continue;
    const counts = Object.entries(summary).map(([name, { count }]) => `${name} ${count}`);
    out(`${printable(id)}: ${counts.slice(1).join(", ")}; digest ${digestOf(summary)}\n`);
  }
  const same = moved.filter(({ differences }) => differences.length === 0).length;
  if (same === moved.length)
    out(`Moved ${quantity(same, "organization")}: source and target are the same\n`);
  else
    error(
      `${moved.length - same} of ${moved.length} organizations differ, so the move is not finished: give an empty target\n`,
    );
}
