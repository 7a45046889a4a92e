/**
 * Command lines of the catalog's providers, varied like those of people and pipelines: the example
 * of each capability is split once at its names, and put together with other names.
 */
import { readFileSync } from "node:fs";
import { hex, pickOne, type Random } from "../src/demo/random.ts";
import { shuffled, zipf } from "./random.ts";

/** A command with the data that a runtime has about it. */
export interface GeneratedCommand {
  readonly command: string;
  readonly provider: string;
  readonly capability: string;
  /** Whether it removes something; policies deny these more often. */
  readonly isDestructive: boolean;
}

interface CatalogRow {
  readonly id: string;
  readonly provider: string;
  readonly command: string;
}

interface Template {
  readonly id: string;
  readonly provider: string;
  readonly isDestructive: boolean;
  /** Texts, and between two texts the list of values for the gap. */
  readonly parts: readonly (string | readonly string[])[];
}

// The most used providers, in order; the others follow in shuffled order.
const POPULAR = [
  "kubernetes",
  "git",
  "docker",
  "terraform",
  "aws",
  "github",
  "npm",
  "helm",
  "gcp",
  "postgres",
  "ansible",
  "azure",
];

const SERVICES = [
  ...["web", "checkout", "billing", "search", "catalogue", "identity", "mailer", "orders"],
  ...["payments", "reports", "gateway", "inventory", "ledger", "notifier", "pricing", "profiles"],
];
const ENVIRONMENTS = ["prod", "prod-eu", "prod-us", "staging", "qa", "dev"];
const BRANCHES = ["main", "develop", "release/8.4", "fix/login-timeout", "feature/new-basket"];
const VERSIONS = Array.from({ length: 60 }, (_, i) => `1.${i % 12}.${Math.floor(i / 12)}`);
const NUMBERS = Array.from({ length: 400 }, (_, i) => String(11 + i * 7));

// The names in the examples, and their replacements.
const GAPS: readonly (readonly [RegExp, readonly string[]])[] = [
  [/\b(?:web|app|shop)\b/, SERVICES],
  [/\b(?:prod|production|staging)\b/, ENVIRONMENTS],
  [/\b(?:main|feature)\b/, BRANCHES],
  [/\b\d+\.\d+\.\d+\b/, VERSIONS],
  [/\b\d{2,4}\b/, NUMBERS],
];

const DESTRUCTIVE = /\b(?:delete|destroy|drop|purge|prune|remove|rm|terminate|uninstall|force)/;
const READING = /\/(?:check|describe|diff|get|inspect|list|logs?|plan|read|show|status|view)/;

/** Appends arguments that name a place or a build, so that most lines differ. */
const SUFFIXES: ReadonlyMap<string, (random: Random) => string> = new Map([
  ["kubernetes", (random) => ` --namespace ${team(random)} --context ${place(random)}`],
  ["helm", (random) => ` --namespace ${team(random)} --set image.tag=${hex(16, random)}`],
  ["aws", (random) => ` --profile ${team(random)}-${place(random)} --region eu-west-1`],
  ["gcp", (random) => ` --project=${team(random)}-${place(random)}`],
  ["azure", (random) => ` --subscription ${team(random)}-${place(random)}`],
  ["terraform", (random) => ` -var=release=${hex(16, random)}`],
  ["docker", (random) => ` registry.example.com/${team(random)}/web:${hex(16, random)}`],
  ["ansible", (random) => ` --limit ${place(random)} --extra-vars build=${hex(8, random)}`],
]);

/** Creates a source of commands from the catalog that ships with the service. */
export function createCommands(random: Random): () => GeneratedCommand {
  const groups = templatesByProvider(random);
  const pickProvider = zipf(groups.length, random);
  const pickers = groups.map((templates) => zipf(templates.length, random));
  return () => {
    const group = pickProvider();
    const template = groups[group]?.[pickers[group]?.() ?? 0];
    if (template === undefined) throw new Error("The catalog names no commands");
    const { id, provider, isDestructive } = template;
    return { command: fill(template, random), provider, capability: id, isDestructive };
  };
}

function fill({ provider, parts }: Template, random: Random): string {
  let command = "";
  for (const part of parts) command += typeof part === "string" ? part : pickOne(part, random);
  const suffix = random() < 0.7 ? SUFFIXES.get(provider) : undefined;
  if (suffix !== undefined) return command + suffix(random);
  return random() < 0.15 ? `RELEASE=${hex(16, random)} ${command}` : command;
}

/** The commands of each provider: most used providers first, reading commands first. */
function templatesByProvider(random: Random): readonly (readonly Template[])[] {
  const path = new URL("../catalog/catalog.json", import.meta.url);
  const { capabilities } = JSON.parse(readFileSync(path, "utf8")) as {
    readonly capabilities: readonly CatalogRow[];
  };
  const providers = [...new Set(capabilities.map(({ provider }) => provider))];
  const popular = POPULAR.filter((provider) => providers.includes(provider));
  const others = providers.filter((provider) => !popular.includes(provider));
  return [...popular, ...shuffled(others, random)].map((provider) => {
    const rows = capabilities.filter((row) => row.provider === provider);
    const ordered = shuffled(rows, random);
    const isReading = ({ id }: CatalogRow) => READING.test(id);
    return [...ordered.filter(isReading), ...ordered.filter((row) => !isReading(row))].map(
      templateOf,
    );
  });
}

function templateOf({ id, provider, command }: CatalogRow): Template {
  const isDestructive = DESTRUCTIVE.test(id) || DESTRUCTIVE.test(command);
  return { id, provider, isDestructive, parts: partsOf(command) };
}

function partsOf(text: string): readonly (string | readonly string[])[] {
  for (const [pattern, choices] of GAPS) {
    const found = pattern.exec(text);
    if (!found) continue;
    const after = found.index + found[0].length;
    return [...partsOf(text.slice(0, found.index)), choices, ...partsOf(text.slice(after))];
  }
  return [text];
}

function team(random: Random): string {
  return `team-${(random() * 40) | 0}`;
}

function place(random: Random): string {
  return pickOne(ENVIRONMENTS, random);
}
