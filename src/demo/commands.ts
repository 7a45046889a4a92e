/**
 * Command lines for the shipped catalog's capabilities: the example of each capability, with the names of the
 * service and the place.
 */
import type { DeclaredCapability } from "../catalog/document.ts";
import { pickOne, type Random } from "./random.ts";
import type { WorkPlace } from "./company.ts";

/** A command with the data that a runtime has about it. */
export interface DemoCommand {
  readonly command: string;
  readonly provider: string;
  readonly capability: string;
  readonly resource: string;
}

/** Makes the command of a capability for a service at a place. */
export type MakeCommand = (
  capability: string,
  service: string,
  place: WorkPlace,
  random: Random,
) => DemoCommand;

const BRANCHES = ["fix-timeout", "faster-search", "new-basket", "retry-payments", "tidy-logs"];
const PACKAGES = ["express", "zod", "pino", "undici"];
const MESSAGES = ["Fix timeout", "Retry payments once", "Tidy the logs", "Cache the catalogue"];

/** The options by which a provider's command selects where to act. */
const PLACE_OPTIONS: Readonly<Record<string, (service: string, place: WorkPlace) => string>> = {
  kubernetes: (service, place) => ` --namespace ${service} --context ${place}`,
  helm: (service, place) => ` --namespace ${service} --kube-context ${place}`,
  terraform: (service, place) => ` -var-file=${place}.tfvars -var=service=${service}`,
  aws: (_, place) => ` --profile ${place}`,
  gcp: (_, place) => ` --project=example-${place}`,
};

// Of Terraform's commands only these take variables.
const TAKES_VARIABLES = new Set(["terraform/plan_changes", "terraform/apply_changes"]);
const HAS_PLACE = /^(?:kubernetes|helm|aws|gcp)\//;

/**
 * Creates the maker of commands from the capabilities of a catalog.
 *
 * @throws Error on use, for a capability that the catalog does not have
 */
export function createCommands(capabilities: readonly DeclaredCapability[]): MakeCommand {
  const byId = new Map(capabilities.map((row) => [row.id, row]));
  return (capability, service, place, random) => {
    const row = byId.get(capability);
    if (row?.command === undefined) throw new Error(`The catalog has no command of ${capability}`);
    const { provider } = row;
    const resource = place === "repository" ? `example/${service}` : `${place}/${service}`;
    const named = withNames(row.command, service, random);
    const option = optionOf(capability, provider, service, place);
    // The arguments after ` -- ` are the command line of another program.
    const [own = "", ...rest] = named.split(" -- ");
    const command = [own + option, ...rest].join(" -- ");
    return { command, provider, capability, resource };
  };
}

function optionOf(capability: string, provider: string, service: string, place: WorkPlace): string {
  if (place === "repository") return "";
  if (!HAS_PLACE.test(capability) && !TAKES_VARIABLES.has(capability)) return "";
  return PLACE_OPTIONS[provider]?.(service, place) ?? "";
}

function withNames(example: string, service: string, random: Random): string {
  const build = `${1 + ((random() * 4) | 0)}.${(random() * 12) | 0}.${(random() * 6) | 0}`;
  return example
    .replaceAll(/\b(?:web|app|shop)\b/g, service)
    .replaceAll(/\b\d+\.\d+\.\d+\b/g, build)
    .replaceAll(/\b(?:42|17)\b/g, () => String(180 + ((random() * 90) | 0)))
    .replaceAll(/\bfeature\b/g, () => pickOne(BRANCHES, random))
    .replaceAll(/\bexpress\b/g, () => pickOne(PACKAGES, random))
    .replaceAll("Fix timeout", () => pickOne(MESSAGES, random));
}
