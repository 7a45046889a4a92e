/** The names of providers in events, and their last use, from the columns of the indexes. */
import { isListed } from "../../../../audit/facets.ts";
import { Yielder } from "../../../../core/scheduling/yielder.ts";
import type { SegmentIndex } from "../index/segment-index.ts";

/** The last use of the named providers, in milliseconds; unused ones are left out. */
export async function lastUses(
  indexes: readonly SegmentIndex[],
  names: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const yielder = new Yielder();
  const times = new Map<string, number>();
  for (const name of names) {
    const time = Math.max(...indexes.map((index) => lastUseIn(index, name)));
    if (time > -Infinity) times.set(name, time);
    await yielder.step();
  }
  return times;
}

function lastUseIn({ fields, lastUsed }: SegmentIndex, provider: string): number {
  const code = fields.provider.dictionary.codeOf(provider);
  return code === undefined ? -Infinity : (lastUsed[code] as number);
}

/** The providers named in events, in no order. If there are too many, those of the newest segments. */
export async function providerNames(
  indexes: readonly SegmentIndex[],
  most: number,
): Promise<ReadonlySet<string>> {
  const names = new Set<string>();
  const yielder = new Yielder();
  for (const { fields } of [...indexes].reverse()) {
    const { dictionary } = fields.provider;
    for (let code = 1; code <= dictionary.size; code++) {
      if (names.size >= most) return names;
      const name = await dictionary.listedValueOf(code);
      if (name !== "" && isListed(name)) names.add(name);
      if (code % 256 === 0) await yielder.step();
    }
  }
  return names;
}
