import { DAY_MS, HOUR_MS, MINUTE_MS } from "../core/clock.ts";
import { printable } from "../core/printable.ts";
import type { Rollout } from "../rollouts/schema.ts";
import { isOpen, stateWord } from "../rollouts/state.ts";
import { flag, readArguments, required, text } from "./arguments.ts";
import { UsageError, type CliCommand, type Terminal } from "./command.ts";
import { examineFile, tellJson, tellMode } from "./policy/document-file.ts";
import { CODES_HELP, JSON_HELP, SERVICE_HELP } from "./policy/options.ts";
import { activeOf, publish, refused, versionOf } from "./policy/publishing.ts";
import { GUARD_HELP, GUARD_OPTIONS, guardOf } from "./policy/replay-report.ts";
import { readRolloutFile } from "./policy/rollout-file.ts";
import { progressLine, rolloutLines } from "./policy/rollout-report.ts";
import {
  beginRollout,
  followRollout,
  newestRollout,
  readRollout,
  takeStep,
} from "./policy/rollout-service.ts";
import { serviceOf, type PolicyService } from "./policy/service.ts";

const OUTPUT = { url: text, json: flag } as const;
const WAIT = { wait: flag, timeout: text } as const;

const WAIT_HELP = `  --wait         wait until the rollout ends or is paused
  --timeout TIME the longest wait, such as 30m or 5h; by default without end`;
const WAIT_CODES_HELP = `With --wait: 0 the version is active, 1 the rollout was rolled back, was superseded or is paused,
3 the time is over and the rollout is still running. It goes on without the command.`;
const ID_HELP = "  --id ID        the rollout; by default the newest one";

const startCommand: CliCommand = {
  name: "policy rollout start",
  usage:
    "FILE --stages STAGES [--version NAME] [--note TEXT] [--max-newly-denied N] [--max-newly-allowed N] [--window TIME] [--wait] [--timeout TIME] [--url URL] [--json]",
  summary: "Store a policy document as a new version, and roll it out stage by stage",
  details: `  --stages STAGES
                 a YAML or JSON file with the stages, as POST /rollouts takes them
  --version NAME the name of the version; by default the time
  --note TEXT    the description of the version, such as the URL of the change
${GUARD_HELP}
${WAIT_HELP}
${JSON_HELP}
${SERVICE_HELP}
With a limit the service replays the document first, and neither stores it nor begins if it exceeds the limit.
Does nothing if the active version has the same text. Follows the open rollout if its version has the same text.
${CODES_HELP}
${WAIT_CODES_HELP}`,
  async run(args, terminal) {
    const own = { stages: text, version: text, note: text };
    const options = { ...own, ...GUARD_OPTIONS, ...WAIT, ...OUTPUT };
    const { values, positionals } = readArguments(args, options, ["FILE"]);
    const [file = ""] = positionals;
    const guard = guardOf(values);
    const output = outputOf(this.name, values, terminal);
    const { isJson } = output;
    const plan = await readRolloutFile(required("stages", values.stages));
    const { yaml, problems, document } = await examineFile(file);
    if (problems.length > 0) return refused(file, problems, isJson, terminal);
    tellMode(document, terminal);
    const service = serviceOf(values.url, terminal);
    const active = await activeOf(service);
    if (active === undefined) {
      throw new Error("No policy is active: publish the first version with policy publish");
    }
    if (active.yaml === yaml) {
      const { version } = active;
      if (isJson) tellJson(terminal, { ok: true, version, rollout: null });
      else terminal.out(`${printable(version)} is active with the same text\n`);
      return 0;
    }
    const open = await openRolloutOf(service, yaml);
    if (open !== undefined) return tell(open, output, service, terminal);
    const published = await publish(
      service,
      { ...values, command: this.name, file, yaml, guard, "no-activate": true },
      terminal,
    );
    if (published === undefined) return 1;
    const { version } = published.policy;
    const begun = await beginRollout(service, { ...plan, version });
    return tell(begun, output, service, terminal);
  },
};

const statusCommand: CliCommand = {
  name: "policy rollout status",
  usage: "[--id ID] [--wait] [--timeout TIME] [--url URL] [--json]",
  summary: "Show a rollout with the figures of its stages, and what it waits for",
  details: `${ID_HELP}
${WAIT_HELP}
${JSON_HELP}
${SERVICE_HELP}
${CODES_HELP}
${WAIT_CODES_HELP}`,
  async run(args, terminal) {
    const { values } = readArguments(args, { id: text, ...WAIT, ...OUTPUT });
    const output = outputOf(this.name, values, terminal);
    const service = serviceOf(values.url, terminal);
    return tell(await readRollout(service, values.id), output, service, terminal);
  },
};

/** A command that takes a step of a rollout. */
function stepCommand(
  word: string,
  step: Parameters<typeof takeStep>[2],
  summary: string,
): CliCommand {
  return {
    name: `policy rollout ${word}`,
    usage: "[--id ID] [--stage N] [--url URL] [--json]",
    summary,
    details: `${ID_HELP}
  --stage N      does nothing unless stage N is the current one
${JSON_HELP}
${SERVICE_HELP}
${CODES_HELP}`,
    async run(args, terminal) {
      const { values } = readArguments(args, { id: text, stage: text, ...OUTPUT });
      const given = stageOf(values.stage);
      const output = outputOf(this.name, values, terminal);
      const service = serviceOf(values.url, terminal);
      const { id, current_stage: current } = await readRollout(service, values.id);
      return tell(await takeStep(service, id, step, given ?? current), output, service, terminal);
    },
  };
}

/** The commands for rollouts. */
export const rolloutCommands: readonly CliCommand[] = [
  startCommand,
  statusCommand,
  stepCommand("advance", "advance", "End the current stage, whatever its gates say"),
  stepCommand("pause", "pause", "Keep the version where it is, and stop the gates"),
  stepCommand("resume", "resume", "Let the gates of a paused rollout go on"),
  stepCommand("roll-back", "roll_back", "Return all runtimes to the active version"),
];

/** The output that a command was asked for. */
interface Output {
  readonly command: string;
  readonly isJson: boolean;
  /** The latest moment of a wait, in milliseconds; `undefined` to wait for nothing. */
  readonly until: number | undefined;
}

function outputOf(
  command: string,
  values: { readonly json?: boolean; readonly wait?: boolean; readonly timeout?: string },
  { now }: Terminal,
): Output {
  const { json, wait, timeout } = values;
  if (timeout !== undefined && wait !== true) throw new UsageError("--timeout: needs --wait");
  const longest = timeout === undefined ? Infinity : timeOf(timeout);
  return { command, isJson: json === true, until: wait === true ? now() + longest : undefined };
}

const UNITS: ReadonlyMap<string, number> = new Map([
  ["m", MINUTE_MS],
  ["h", HOUR_MS],
  ["d", DAY_MS],
]);

function timeOf(given: string): number {
  const [, count, unit = ""] = /^(\d{1,5})([mhd])$/.exec(given) ?? [];
  const ms = Number(count) * (UNITS.get(unit) ?? 0);
  if (ms > 0) return ms;
  throw new UsageError(`--timeout: expected a time such as 30m or 5h instead of "${given}"`);
}

function stageOf(given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  if (/^[1-9]\d?$/.test(given)) return Number(given);
  throw new UsageError(`--stage: expected the number of a stage instead of "${given}"`);
}

/**
 * The open rollout if its version has a text.
 *
 * @throws Error if it has another one: nothing may be stored for a rollout that cannot begin
 */
async function openRolloutOf(service: PolicyService, yaml: string): Promise<Rollout | undefined> {
  const newest = await newestRollout(service);
  if (newest === undefined || !isOpen(newest)) return undefined;
  if ((await versionOf(service, newest.version))?.yaml === yaml) return newest;
  throw new Error(
    `A rollout of "${newest.version}" is open: wait for its end, or roll it back, before another one begins`,
  );
}

/** Tells a rollout, after its end if that is waited for; returns the exit code. */
async function tell(
  rollout: Rollout,
  { command, isJson, until }: Output,
  service: PolicyService,
  terminal: Terminal,
): Promise<number> {
  if (until === undefined) {
    const read = await readRollout(service, rollout.id);
    if (isJson) tellJson(terminal, { ok: true, ...read });
    else terminal.out(rolloutLines(read) + lineOf(read));
    return 0;
  }
  let told = "";
  const tellProgress = (read: Rollout): void => {
    const line = lineOf(read);
    if (isJson || line === told) return;
    terminal.out(told === "" ? rolloutLines(read) + line : line);
    told = line;
  };
  const followed = await followRollout(service, rollout.id, until, terminal, tellProgress);
  const { rollout: last, hasStopped } = followed;
  const ok = last.state === "completed";
  if (isJson) tellJson(terminal, { ok, ...last });
  if (ok) return 0;
  const { version, state } = last;
  const news = hasStopped
    ? `the rollout of ${version} ${state === "paused" ? "is" : "was"} ${stateWord(state)}${state === "paused" ? ": resume it, or roll it back" : ""}`
    : `the time is over, and the rollout of ${version} is still running`;
  terminal.error(`signalbox ${command}: ${printable(news)}\n`);
  return hasStopped ? 1 : 3;
}

function lineOf(rollout: Rollout): string {
  return `${printable(progressLine(rollout))}\n`;
}
