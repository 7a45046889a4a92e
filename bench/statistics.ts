/** The median; for an even count the mean of the two middle numbers. */
export function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2;
}

/** The value that a share of the numbers does not exceed; `share` is from 0 to 1. */
export function quantile(numbers: Float64Array | readonly number[], share: number): number {
  const sorted = Float64Array.from(numbers).sort();
  const index = Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1));
  return sorted[index] ?? Number.NaN;
}

/** A median with the minimum and the maximum. */
export interface Spread {
  readonly median: number;
  readonly least: number;
  readonly greatest: number;
}

/** Takes the ratio within each round before the median, since the machine's speed drifts between rounds. */
export function ratioSpread(ours: readonly number[], theirs: readonly number[]): Spread {
  const ratios = ours.map((value, round) => value / (theirs[round] ?? Number.NaN));
  return { median: median(ratios), least: Math.min(...ratios), greatest: Math.max(...ratios) };
}
