/** The history of the example policy: two weeks of work, with one mistake and its rollback. */
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../core/clock.ts";
import type { PolicyDocument } from "../policies/rules.ts";
import { examine } from "../policies/examine.ts";
import { isWeekend, POLICY_CHANGES, readDemoFile, type ToldChange } from "./company.ts";

/** A runtime's copy of a policy version. */
export interface PolicyCopy {
  readonly version: string;
  readonly document: PolicyDocument;
}

/** The activation of a version. */
export interface PolicyChange extends Pick<ToldChange, "version" | "by" | "description"> {
  /** Milliseconds. */
  readonly at: number;
}

/** The text of every version of the example policy, by its name; oldest first. */
export const POLICY_TEXTS: ReadonlyMap<string, string> = textsOf(readDemoFile("policy.yaml"));

/** Collects the sections of each version; `#: v1 v2` names the versions of the section below it. */
function textsOf(file: string): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  const [, ...pieces] = file.split(/^#: (.+)\n/m);
  for (let i = 0; i < pieces.length; i += 2) {
    for (const version of pieces[i]?.split(" ") ?? []) {
      texts.set(version, (texts.get(version) ?? "") + (pieces[i + 1] ?? ""));
    }
  }
  return texts;
}

/** Finds the copy of a version of the example policy in parsed form, as runtimes read it. */
export type CopyOfVersion = (version: string) => PolicyCopy;

/**
 * Parses every version of the example policy.
 *
 * @throws Error if one of them is invalid, which a test rules out
 */
export function policyCopies(): CopyOfVersion {
  const copies = new Map<string, PolicyCopy>();
  for (const [version, yaml] of POLICY_TEXTS) {
    const { document, problems } = examine({ yaml, command: undefined });
    if (!document || problems.length > 0) throw new Error(`Example policy ${version} is not valid`);
    copies.set(version, { version, document });
  }
  return (version) => {
    const copy = copies.get(version);
    if (!copy) throw new Error(`There is no example policy ${version}`);
    return copy;
  };
}

/** The changes up to a moment (milliseconds), oldest first; the first is two weeks back. */
export function policyHistory(now: number): readonly PolicyChange[] {
  return POLICY_CHANGES.map(({ workdaysAgo, time: [hours, minutes], ...change }) => ({
    ...change,
    at: startOfWorkday(now, workdaysAgo) + hours * HOUR_MS + minutes * MINUTE_MS,
  }));
}

/** Midnight (UTC) of the working day that lies this many working days before today. */
function startOfWorkday(now: number, workdaysAgo: number): number {
  let day = now - (now % DAY_MS);
  for (let left = workdaysAgo; left > 0;) {
    day -= DAY_MS;
    if (!isWeekend(day)) left--;
  }
  return day;
}
