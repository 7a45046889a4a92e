/** The Prometheus text format, version 0.0.4: families of samples, written by hand. */

/** The media type of the format. */
export const EXPOSITION_TYPE = "text/plain; version=0.0.4; charset=utf-8";

export type Labels = Readonly<Record<string, string>>;

/** One value; `suffix` is the part that a histogram's samples add to its name, such as `_bucket`. */
export interface Sample {
  readonly value: number;
  readonly labels?: Labels;
  readonly suffix?: string;
}

/** All samples of one name. Names and label names are our own, so they are never escaped. */
export interface Family {
  readonly name: string;
  readonly type: "counter" | "gauge" | "histogram";
  readonly help: string;
  readonly samples: readonly Sample[];
}

/** Writes families one after the other; a family without samples is left out. */
export function writeExposition(families: readonly Family[]): string {
  return families.map(writeFamily).join("");
}

/** A family of one sample without labels. */
export function single(
  name: string,
  type: "counter" | "gauge",
  help: string,
  value: number,
): Family {
  return { name, type, help, samples: [{ value }] };
}

function writeFamily({ name, type, help, samples }: Family): string {
  if (samples.length === 0) return "";
  const head = `# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${type}\n`;
  return samples.reduce((text, sample) => text + writeSample(name, sample), head);
}

function writeSample(name: string, { suffix = "", labels, value }: Sample): string {
  const pairs = Object.entries(labels ?? {}).map(([key, text]) => `${key}="${escapeLabel(text)}"`);
  const braces = pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
  return `${name}${suffix}${braces} ${numberText(value)}\n`;
}

/** A number in this format, where infinity is `+Inf`. */
export function numberText(value: number): string {
  if (value === Infinity) return "+Inf";
  return value === -Infinity ? "-Inf" : String(value);
}

function escapeHelp(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
}

function escapeLabel(text: string): string {
  return escapeHelp(text).replaceAll('"', '\\"');
}
