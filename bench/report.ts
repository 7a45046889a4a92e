/** Results as Markdown tables. */
import type { ContestantName } from "./contestants.ts";
import type { Slice } from "./load.ts";
import type { Scenario } from "./scenarios.ts";
import { median, ratioSpread, type Spread } from "./statistics.ts";

/** What a scenario showed: for each contestant one slice a round. */
export interface Measured {
  readonly scenario: Scenario;
  readonly slices: ReadonlyMap<ContestantName, readonly Slice[]>;
}

/** The table of one scenario, a row for each contestant. */
export function scenarioTable({ scenario, slices }: Measured): string {
  const [subject = "signalbox"] = scenario.contestants;
  const ours = slices.get(subject) ?? [];
  const rows = [...slices].map(([name, theirs]) => {
    const of = (pick: (slice: Slice) => number) => median(theirs.map(pick));
    return [
      name,
      number(of(({ rate }) => rate)),
      name === subject ? "" : times(ratioSpread(ours.map(rateOf), theirs.map(rateOf))),
      `${of(({ p50 }) => p50).toFixed(2)} / ${of(({ p99 }) => p99).toFixed(2)}`,
      number(of(({ cpuMicroseconds }) => cpuMicroseconds)),
      `${(of(({ cpuShare }) => cpuShare) * 100).toFixed(0)} %`,
      number(of(({ residentBytes }) => residentBytes) / 2 ** 20),
    ];
  });
  const head = [
    "server",
    "answers/s",
    `${subject} is (min..max)`,
    "p50 / p99 ms",
    "CPU µs each",
    "CPU",
    "RSS MiB",
  ];
  return `### ${scenario.name}\n\n${table(head, rows)}\n`;
}

/**
 * How much of the machine others used during the measurements; a peer's database and the servers that
 * are not being asked count as others. Beyond a tenth nothing here can be trusted.
 */
export function othersLine(all: readonly Measured[]): string {
  const shares = all.flatMap(({ slices }) =>
    [...slices]
      .filter(([name]) => name !== "fastify + postgres")
      .flatMap(([, own]) => own.map(({ othersShare }) => othersShare * 100)),
  );
  const [middle, greatest] = [median(shares), Math.max(...shares)].map((share) => share.toFixed(0));
  const verdict = median(shares) > 10 ? ": **too busy a machine to trust these figures**" : "";
  return `Others used ${middle} % of the machine (median; ${greatest} % at most)${verdict}.`;
}

/** One line for each scenario: how much of the floor is left, and what was wanted. */
export function summaryTable(all: readonly Measured[]): string {
  const rows = all.map(({ scenario, slices }) => {
    const [subject = "signalbox"] = scenario.contestants;
    const ours = slices.get(subject) ?? [];
    const floor = slices.get("floor") ?? [];
    const { median: ratio, least, greatest } = ratioSpread(ours.map(rateOf), floor.map(rateOf));
    const cpu = ratioSpread(floor.map(cpuOf), ours.map(cpuOf));
    const { target } = scenario;
    return [
      scenario.name,
      number(median(ours.map(rateOf))),
      `${ratio.toFixed(2)} (${least.toFixed(2)}..${greatest.toFixed(2)})`,
      `${cpu.median.toFixed(2)} (${cpu.least.toFixed(2)}..${cpu.greatest.toFixed(2)})`,
      target?.toFixed(2) ?? "",
      target === undefined ? "" : ratio >= target ? "met" : "**missed**",
    ];
  });
  const head = ["scenario", "answers/s", "of the floor", "of the floor, by CPU", "wanted", ""];
  return `### Against the floor\n\n${table(head, rows)}\n`;
}

function rateOf({ rate }: Slice): number {
  return rate;
}

function cpuOf({ cpuMicroseconds }: Slice): number {
  return cpuMicroseconds;
}

function times({ median: middle, least, greatest }: Spread): string {
  const digits = middle < 10 ? 2 : 0;
  return `${middle.toFixed(digits)} × (${least.toFixed(digits)}..${greatest.toFixed(digits)})`;
}

function number(value: number): string {
  return value.toLocaleString("en", { maximumFractionDigits: value < 10 ? 1 : 0 });
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const rule = head.map((_, i) => (i === 0 ? "---" : "---:"));
  return [head, rule, ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}
