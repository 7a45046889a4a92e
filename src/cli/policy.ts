import { printable, printableLines } from "../core/printable.ts";
import { SCHEMA_NAME, UNCHECKED } from "../policies/document-keys.ts";
import { examine } from "../policies/examine.ts";
import type { PolicyReplayReport } from "../replay/report.ts";
import { flag, readArguments, text } from "./arguments.ts";
import { UsageError, type CliCommand, type Terminal } from "./command.ts";
import {
  examineFile,
  readDocument,
  tellJson,
  tellMode,
  tellProblems,
} from "./policy/document-file.ts";
import { CODES_HELP, JSON_HELP, SERVICE_HELP } from "./policy/options.ts";
import {
  activate,
  activeOf,
  listVersions,
  publish,
  readVersion,
  refused,
  type StoredVersions,
} from "./policy/publishing.ts";
import {
  beginningOf,
  excessOf,
  GUARD_HELP,
  GUARD_OPTIONS,
  guardOf,
  replayLines,
} from "./policy/replay-report.ts";
import { jsonOf, serviceOf, succeeded } from "./policy/service.ts";
import { unifiedDiff } from "./policy/unified-diff.ts";

const validateCommand: CliCommand = {
  name: "policy validate",
  usage: "FILE [--json]",
  summary: "Check a policy document, and say what prevents its publishing and where",
  details: `${JSON_HELP}

Runs the checks that the service runs, the document's own tests included. Needs no service.
${CODES_HELP}`,
  async run(args, terminal) {
    const { values, file } = readWithFile(args, { json: flag });
    const { problems, document } = await examineFile(file);
    const ok = problems.length === 0;
    const unchecked = document ? "" : UNCHECKED;
    if (values.json === true) tellJson(terminal, { ok, file, problems });
    else if (ok) terminal.out(`${printable(file)}: valid${unchecked}\n`);
    else tellProblems(file, problems, terminal);
    return ok ? 0 : 1;
  },
};

const testCommand: CliCommand = {
  name: "policy test",
  usage: "FILE [--json]",
  summary: "Run the tests of a policy document, and count them",
  details: `${JSON_HELP}

Only documents with "schema: ${SCHEMA_NAME}" have tests. Needs no service.
${CODES_HELP}`,
  async run(args, terminal) {
    const { values, file } = readWithFile(args, { json: flag });
    const { problems, document } = await examineFile(file);
    if (!document && problems.length === 0) {
      throw new Error(`${file}: has no tests, expected "schema: ${SCHEMA_NAME}"`);
    }
    const ok = problems.length === 0;
    // Without a document the problems are of its shape, and no test has run.
    const [tests, failed] = document ? [document.tests.length, problems.length] : [0, 0];
    if (values.json === true) tellJson(terminal, { ok, file, tests, failed, problems });
    else {
      if (!ok) tellProblems(file, problems, terminal);
      if (document) terminal.out(`${tests - failed} of ${tests} tests pass\n`);
    }
    return ok ? 0 : 1;
  },
};

const diffCommand: CliCommand = {
  name: "policy diff",
  usage: "FILE|--to VERSION [--from VERSION] [--url URL] [--json]",
  summary: "Compare a policy document with the active version, or stored versions",
  details: `  --from VERSION the version to compare with; by default the active one
  --to VERSION   a stored version in place of a file
${JSON_HELP}
${SERVICE_HELP}
Prints a unified diff, and nothing if both texts are the same.
${CODES_HELP}`,
  async run(args, terminal) {
    const options = { from: text, to: text, url: text, json: flag };
    const { values, positionals } = readArguments(args, options, [], ["FILE"]);
    const [file] = positionals;
    const { from, to } = values;
    if ((file === undefined) === (to === undefined)) {
      throw new UsageError("Expected either FILE or --to VERSION");
    }
    const service = serviceOf(values.url, terminal);
    const yaml =
      file === undefined ? (await readVersion(service, to)).yaml : await readDocument(file);
    tellMode(examine({ yaml, command: undefined, commands: [] }).document, terminal);
    const base = from === undefined ? await activeOf(service) : await readVersion(service, from);
    const before = { name: printable(base?.version ?? "/dev/null"), text: base?.yaml ?? "" };
    const diff = unifiedDiff(before, { name: printable(file ?? to ?? ""), text: yaml });
    if (values.json === true) {
      tellJson(terminal, { version: base?.version ?? null, changed: diff !== "", diff });
    } else terminal.out(terminal.isTerminal ? shownDiff(diff, terminal.env) : diff);
    return 0;
  },
};

const replayCommand: CliCommand = {
  name: "policy replay",
  usage: "FILE [--window TIME] [--max-newly-denied N] [--max-newly-allowed N] [--url URL] [--json]",
  summary: "Decide recorded events by a policy document, and count the decisions that change",
  details: `${GUARD_HELP}
${JSON_HELP}
${SERVICE_HELP}
Compares with the active version, or with the recorded decisions if none is active. Stores nothing.
${CODES_HELP}`,
  async run(args, terminal) {
    const { values, file } = readWithFile(args, { ...GUARD_OPTIONS, url: text, json: flag });
    const guard = guardOf(values);
    const { yaml, problems, document } = await examineFile(file);
    if (problems.length > 0) return refused(file, problems, values.json === true, terminal);
    tellMode(document, terminal);
    const from = beginningOf(guard, terminal.now());
    const question = { yaml, from, compare: "effects" };
    const answer = await serviceOf(values.url, terminal).post("/policies/replay", question);
    const report = jsonOf<PolicyReplayReport>(succeeded(answer), {
      evaluated: "number",
      rules: "array",
      examples: "array",
    });
    const excess = excessOf(report, guard);
    if (values.json === true) tellJson(terminal, { ok: excess === undefined, ...report });
    else terminal.out(replayLines(file, yaml, report));
    if (excess !== undefined) terminal.error(`signalbox policy replay: ${excess}\n`);
    return excess === undefined ? 0 : 1;
  },
};

const publishCommand: CliCommand = {
  name: "policy publish",
  usage:
    "FILE [--version NAME] [--note TEXT] [--no-activate] [--max-newly-denied N] [--max-newly-allowed N] [--window TIME] [--url URL] [--json]",
  summary: "Publish a policy document as a new version",
  details: `  --version NAME the name of the version; by default the time
  --note TEXT    the description of the version, such as the URL of the change
  --no-activate  store the version, and leave the active one as it is
${GUARD_HELP}
${JSON_HELP}
${SERVICE_HELP}
With a limit the service replays the document first, and publishes nothing if it exceeds the limit.
Nothing is published if the active version, or the one of that name, has the same text.
${CODES_HELP}`,
  async run(args, terminal) {
    const options = { version: text, note: text, "no-activate": flag, url: text, json: flag };
    const { values, file } = readWithFile(args, { ...options, ...GUARD_OPTIONS });
    const guard = guardOf(values);
    const { yaml, problems, document } = await examineFile(file);
    if (problems.length > 0) return refused(file, problems, values.json === true, terminal);
    tellMode(document, terminal);
    const service = serviceOf(values.url, terminal);
    const current = values.version === undefined ? await activeOf(service) : undefined;
    const isSame = current?.yaml === yaml;
    const published = isSame
      ? { policy: current, isNew: false }
      : await publish(
          service,
          { ...values, command: "policy publish", file, yaml, guard },
          terminal,
        );
    if (published === undefined) return 1;
    const { isNew } = published;
    const { version, active } = published.policy;
    if (values.json === true) tellJson(terminal, { ok: true, version, active, published: isNew });
    else if (isNew)
      terminal.out(`Published ${printable(version)}, ${active ? "active" : "not active"}\n`);
    else
      terminal.out(`${printable(version)} is ${active ? "active" : "stored"} with the same text\n`);
    return 0;
  },
};

const listCommand: CliCommand = {
  name: "policy list",
  usage: "[--url URL] [--json]",
  summary: "List the stored versions, newest first",
  details: `${JSON_HELP}
${SERVICE_HELP}
Prints a line for each version: its name, when it was published and by whom. A star marks the active one.
${CODES_HELP}`,
  async run(args, terminal) {
    const { values } = readArguments(args, { url: text, json: flag });
    const versions = await listVersions(serviceOf(values.url, terminal));
    if (values.json === true) tellJson(terminal, versions);
    else terminal.out(versionLines(versions));
    return 0;
  },
};

const pullCommand: CliCommand = {
  name: "policy pull",
  usage: "[VERSION] [--url URL] [--json]",
  summary: "Print the active policy document, or that of a stored version",
  details: `  --json         the whole version as JSON
${SERVICE_HELP}
${CODES_HELP}`,
  async run(args, terminal) {
    const options = { url: text, json: flag };
    const { values, positionals } = readArguments(args, options, [], ["VERSION"]);
    const policy = await readVersion(serviceOf(values.url, terminal), positionals[0]);
    if (values.json === true) tellJson(terminal, policy);
    else terminal.out(terminal.isTerminal ? printableLines(policy.yaml) : policy.yaml);
    return 0;
  },
};

const activateCommand: CliCommand = {
  name: "policy activate",
  usage: "VERSION [--url URL] [--json]",
  summary: "Make a stored version the active one, to roll back or after a review",
  details: `  --json         the whole version as JSON
${SERVICE_HELP}
Activating the active version changes nothing.
${CODES_HELP}`,
  async run(args, terminal) {
    const options = { url: text, json: flag };
    const { values, positionals } = readArguments(args, options, ["VERSION"]);
    const policy = await activate(serviceOf(values.url, terminal), positionals[0] ?? "");
    if (values.json === true) tellJson(terminal, policy);
    else terminal.out(`${printable(policy.version)} is active\n`);
    return 0;
  },
};

/** The commands for policies in a repository. */
export const policyCommands: readonly CliCommand[] = [
  validateCommand,
  testCommand,
  diffCommand,
  replayCommand,
  publishCommand,
  activateCommand,
  listCommand,
  pullCommand,
];

/** Reads the arguments of a command about one file. */
function readWithFile<const T extends Parameters<typeof readArguments>[1]>(
  args: readonly string[],
  options: T,
) {
  const { values, positionals } = readArguments(args, options, ["FILE"]);
  return { values, file: positionals[0] ?? "" };
}

function versionLines({ policies }: StoredVersions): string {
  const width = Math.max(...policies.map(({ version }) => printable(version).length));
  const lines = policies.map(({ version, active, updated_at: at, updated_by: by }) => {
    const name = printable(version).padEnd(width);
    return `${active ? "*" : " "} ${name}  ${printable(`${at}  ${by}`)}\n`;
  });
  return lines.join("");
}

function shownDiff(diff: string, { NO_COLOR }: Terminal["env"]): string {
  const shown = printableLines(diff);
  if (NO_COLOR) return shown;
  return shown.replace(/^[-+].*$/gm, (line) => {
    const colour = line.startsWith("+") ? 32 : 31;
    return `\u001b[${colour}m${line}\u001b[0m`;
  });
}
