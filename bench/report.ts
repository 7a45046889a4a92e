/** Results as Markdown tables. */
import type { ContestantName } from "./contestants.ts";
import type { Slice } from "./load.ts";
import type { Scenario } from "./scenarios.ts";
import { median, ratioSpread, type Spread } from "./statistics.ts";

/** The results of a scenario: for each contestant one slice per round. */
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
 * The share of the machine that others used during the measurements; a database would count as
 * one, so servers over PostgreSQL are left out. Above a tenth, no figure can be trusted.
 */
export function othersLine(all: readonly Measured[]): string {
  const shares = all.flatMap(({ slices }) =>
    [...slices]
      .filter(([name]) => !name.endsWith("+ postgres"))
      .flatMap(([, own]) => own.map(({ othersShare }) => othersShare * 100)),
  );
  const [middle, greatest] = [median(shares), Math.max(...shares)].map((share) => share.toFixed(0));
  const verdict = median(shares) > 10 ? ": **too busy a machine to trust these figures**" : "";
  return `Others used ${middle} % of the machine (median; ${greatest} % at most)${verdict}.`;
}

/**
 * One line for each scenario whose baseline was measured: the ratio to the floor, or to another setting or
 * a peer, and its target.
 */
export function summaryTable(all: readonly Measured[]): string {
  const compared = all.filter((measured) => measured.slices.has(baselineOf(measured)));
  const baselines = new Set(compared.map(baselineOf));
  return Array.from(baselines, (baseline) => {
    const rows = compared
      .filter((measured) => baselineOf(measured) === baseline)
      .map((measured) => summaryRow(measured, baseline));
    const of = `of ${baseline === "floor" ? "the floor" : baseline}`;
    const head = ["scenario", "answers/s", of, `${of}, by CPU`, "wanted", ""];
    return `### Against ${baseline === "floor" ? "the floor" : baseline}\n\n${table(head, rows)}\n`;
  }).join("\n");
}

function summaryRow({ scenario, slices }: Measured, baseline: ContestantName): readonly string[] {
  const [subject = "signalbox"] = scenario.contestants;
  const ours = slices.get(subject) ?? [];
  const theirs = slices.get(baseline) ?? [];
  const { median: ratio, least, greatest } = ratioSpread(ours.map(rateOf), theirs.map(rateOf));
  const cpu = ratioSpread(theirs.map(cpuOf), ours.map(cpuOf));
  const { target } = scenario;
  return [
    scenario.name,
    number(median(ours.map(rateOf))),
    `${ratio.toFixed(2)} (${least.toFixed(2)}..${greatest.toFixed(2)})`,
    `${cpu.median.toFixed(2)} (${cpu.least.toFixed(2)}..${cpu.greatest.toFixed(2)})`,
    target?.toFixed(2) ?? "",
    target === undefined ? "" : ratio >= target ? "met" : "**missed**",
  ];
}

function baselineOf({ scenario }: Measured): ContestantName {
  return scenario.baseline ?? "floor";
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

/** A Markdown table; all columns but the first contain numbers. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const rule = head.map((_, i) => (i === 0 ? "---" : "---:"));
  return [head, rule, ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}
