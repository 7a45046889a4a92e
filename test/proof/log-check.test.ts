import assert from "node:assert/strict";
import { test } from "node:test";
import { checkLog } from "../../src/proof/log-check.ts";
import { leafHash } from "../../src/proof/merkle.ts";
import { copyOf, flip, hashIn, logOf, memoryLog, type MemoryLog } from "./memory-log.ts";
import { linesOf } from "./naive-tree.ts";

const lines = linesOf(600);
const whole = await memoryLog(lines, 150, [0, 10, 256, 300, 590, 600]);
const small = await memoryLog(linesOf(12), 5, [4, 12], true);

async function faultsOf(log: MemoryLog): Promise<readonly string[]> {
  const { faults } = await checkLog(log, log.checkpoints);
  return faults.map(({ file, problem }) => `${file}: ${problem}`);
}

/** The lines of a segment, to be changed. */
function edit(log: MemoryLog, file: string, change: (lines: string[]) => void): void {
  const own = log.segments.get(file)?.toString().split("\n") ?? [];
  change(own);
  log.segments.set(file, Buffer.from(own.join("\n")));
}

test("an intact log has no faults, and is covered up to its last checkpoint", async () => {
  assert.deepEqual(await checkLog(whole, whole.checkpoints), {
    ...{ faults: [], size: 600, covered: 600 },
  });
  const some = whole.checkpoints.slice(0, 3);
  assert.deepEqual(await checkLog(whole, some), { faults: [], size: 600, covered: 256 });
  assert.deepEqual(await checkLog(whole, []), { faults: [], size: 600, covered: 0 });
  assert.deepEqual(await checkLog(small, small.checkpoints), { faults: [], size: 12, covered: 12 });
});

test("a log of which retention removed the beginning is checked with the tiles that remain", async () => {
  const segments = new Map([...whole.segments].slice(2));
  const log = logOf(segments, whole.tiles, 300);
  assert.deepEqual(await checkLog(log, whole.checkpoints), { faults: [], size: 600, covered: 600 });
  const changed = copyOf({ ...log, checkpoints: whole.checkpoints });
  flip(changed.segments.get("3.jsonl"), 20);
  assert.match((await faultsOf(changed)).join(), /^3\.jsonl: line 1: is not event 300: /);
  const tiles = new Map([...whole.tiles].filter(([name]) => name !== "0/1"));
  const { faults } = await checkLog(logOf(segments, tiles, 300), whole.checkpoints);
  assert.match(faults[0]?.problem ?? "", /is missing or too short: .*event 256/);
  const removed = copyOf({ ...log, checkpoints: whole.checkpoints });
  flip(removed.tiles.get("0/0"), 7);
  const [said = ""] = await faultsOf(removed);
  assert.match(said, /^hashes-0: events 0 to 9 are not those of checkpoint 10$/);
});

test("a retention that was not one is found: the line after the gap is another event", async () => {
  const segments = new Map([...whole.segments].slice(2));
  const log = { ...logOf(segments, whole.tiles, 150), checkpoints: whole.checkpoints };
  assert.deepEqual(await faultsOf(log), ["3.jsonl: before line 1: events 150 to 299 are missing"]);
});

test("each flipped byte of a log is found, in its line", async () => {
  let events = 0;
  for (const [file, bytes] of small.segments) {
    let line = 1;
    for (let at = 0; at < bytes.length; at++) {
      const log = copyOf(small);
      flip(log.segments.get(file), at);
      const said = await faultsOf(log);
      const isEnd = bytes[at] === 0x0a;
      const inLine = new RegExp(`^${file}: line ${line}: is not event ${events}: `);
      assert.ok(said.length > 0, `${file}, byte ${at}`);
      if (!isEnd) assert.match(said[0] ?? "", inLine, `byte ${at}`);
      if (isEnd) {
        line++;
        events++;
      }
    }
  }
  assert.equal(events, 12);
});

test("a changed line is told with the hashes of what is there and what was recorded", async () => {
  const log = copyOf(whole);
  edit(log, "2.jsonl", (own) => (own[9] = '{"id":"159"}'));
  const [is, expected] = [
    leafHash('{"id":"159"}').toString("base64"),
    hashIn(log.tiles.get("0/0"), 159),
  ];
  assert.deepEqual(await faultsOf(log), [
    `2.jsonl: line 10: is not event 159: its leaf is ${is}, expected ${expected}`,
  ]);
});

for (const [what, file, change, expected] of [
  [
    "a removed line",
    "2.jsonl",
    (own) => own.splice(9, 1),
    ["2.jsonl: before line 10: event 159 is missing"],
  ],
  ["an added line", "2.jsonl", (own) => own.splice(9, 0, "{}"), ["2.jsonl: line 10: was added"]],
  [
    "a repeated line",
    "2.jsonl",
    (own) => own.splice(9, 0, own[3] ?? ""),
    ["2.jsonl: line 10: repeats event 153"],
  ],
  [
    "two lines swapped",
    "2.jsonl",
    (own) => own.splice(9, 2, own[10] ?? "", own[9] ?? ""),
    ["2.jsonl: line 10: is event 160, which was moved here"],
  ],
  [
    "a line moved to the end of its segment",
    "2.jsonl",
    (own) => own.splice(149, 0, ...own.splice(9, 1)),
    ["2.jsonl: line 150: is event 159, which was moved here"],
  ],
  [
    "an emptied segment",
    "2.jsonl",
    (own) => own.splice(0),
    ["3.jsonl: before line 1: events 150 to 299 are missing"],
  ],
] as const satisfies readonly [string, string, (own: string[]) => unknown, readonly string[]][]) {
  test(`${what} is told with its place`, async () => {
    const log = copyOf(whole);
    edit(log, file, change);
    assert.deepEqual(await faultsOf(log), expected);
  });
}

test("a replaced segment is found, and so are two segments that changed places", async () => {
  const replaced = copyOf(whole);
  edit(replaced, "1.jsonl", (own) => own.splice(0, 150, ...linesOf(900).slice(700, 850)));
  const said = await faultsOf(replaced);
  assert.equal(said.length, 21);
  assert.match(said[0] ?? "", /^1\.jsonl: line 1: is not event 0: /);
  assert.equal(said.at(-1), "1.jsonl: and more of the like");
  const swapped = copyOf(whole);
  const [first, second] = [whole.segments.get("1.jsonl"), whole.segments.get("2.jsonl")];
  swapped.segments.set("1.jsonl", second as Buffer).set("2.jsonl", first as Buffer);
  assert.ok((await faultsOf(swapped)).length > 0);
});

test("events that no tile records yet are placed between two checkpoints", async () => {
  const log = copyOf(whole);
  flip(log.segments.get("4.jsonl"), (log.segments.get("4.jsonl")?.length ?? 0) - 9);
  assert.deepEqual(await faultsOf(log), [
    "4.jsonl: lines 141 to 150: events 590 to 599 are not those of checkpoint 600; those before are as an earlier checkpoint says",
  ]);
});

test("a change of an event that was made in its tile as well is found by the checkpoints", async () => {
  const log = copyOf(whole);
  edit(log, "2.jsonl", (own) => (own[9] = '{"id":"159"}'));
  leafHash('{"id":"159"}').copy(log.tiles.get("0/0") as Buffer, 159 * 32);
  assert.deepEqual(await faultsOf(log), [
    "1.jsonl: lines 11 to line 106 of 2.jsonl: events 10 to 255 are not those of checkpoint 256; those before are as an earlier checkpoint says",
  ]);
});

test("a removed end, and a log and tiles that were rewound together, are found by a kept checkpoint", async () => {
  const cut = copyOf(whole);
  edit(cut, "4.jsonl", (own) => own.splice(100, 50));
  const said =
    "4.jsonl: the log ends after 550 events, and checkpoint 600 is of 600: the events from 550 on were removed, or an older log was put in its place";
  assert.deepEqual(await faultsOf(cut), [said]);
  const rewound = await memoryLog(lines.slice(0, 550), 150, [10, 256, 300]);
  assert.deepEqual(await faultsOf(rewound), []);
  rewound.checkpoints.push(...whole.checkpoints.slice(-1));
  assert.deepEqual(await faultsOf(rewound), [said]);
});

test("another log of the same length is found by a kept checkpoint", async () => {
  const other = await memoryLog(linesOf(600).with(300, "{}"), 150, [256, 600]);
  assert.deepEqual(await faultsOf(other), []);
  other.checkpoints.push(...whole.checkpoints.slice(3, 5));
  const [said = ""] = await faultsOf(other);
  assert.match(said, /^3\.jsonl: line 1 to |lines 1 to 141 of|lines? .*events 300 to 589 are not/);
});

test("a damaged tile is told as such, and the events as right", async () => {
  const log = copyOf(whole);
  flip(log.tiles.get("0/1"), 77);
  assert.deepEqual(await faultsOf(log), [
    "hashes-0: tile 1: is not that of the events, which are as the checkpoints say",
  ]);
  log.tiles.delete("0/0");
  assert.equal((await faultsOf(log)).length, 2);
});

test("every removed, added, repeated or swapped line of a small log is found", async () => {
  const own = linesOf(12);
  const names = (changed: readonly string[]): MemoryLog => {
    const bytes = Buffer.from(changed.map((line) => `${line}\n`).join(""));
    const segments = new Map([["1.jsonl", bytes]]);
    return { ...logOf(segments, small.tiles, 0), checkpoints: small.checkpoints };
  };
  assert.deepEqual(await faultsOf(names(own)), []);
  for (let i = 0; i < 12; i++) {
    const wrong = [own.toSpliced(i, 1), own.toSpliced(i, 0, "{}"), own.with(i, "{}")];
    for (let j = 0; j < 12; j++) {
      const [a = "", b = ""] = [own[i], own[j]];
      if (i !== j) wrong.push(own.with(i, b).with(j, a), own.with(i, b), own.toSpliced(i, 0, b));
    }
    for (const changed of wrong) {
      assert.ok((await faultsOf(names(changed))).length > 0, changed.join());
    }
  }
});
