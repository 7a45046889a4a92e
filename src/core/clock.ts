/** Milliseconds since the Unix epoch. Injected everywhere, so that tests control the time. */
export type Clock = () => number;

/** The system's clock: the only source of the time. */
export const systemClock: Clock = Date.now;

export const SECOND_MS = 1_000;
export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;

/** Milliseconds, with fractions, since an arbitrary moment. For durations only, never for timestamps. */
export type Stopwatch = () => number;
