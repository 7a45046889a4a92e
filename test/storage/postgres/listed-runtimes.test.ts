import assert from "node:assert/strict";
import { test } from "node:test";
import { Unavailable } from "../../../src/core/errors.ts";
import { ListRoom, type Slice } from "../../../src/storage/postgres/listed-runtimes.ts";

/** A list of 20 MiB: each character takes two bytes. */
function longList(): Slice[] {
  return Array.from({ length: 20 }, (_, n) => ({ names: `€${n % 10}`.repeat(1 << 18), seen: "" }));
}

test("the newest list of the client with the most in memory makes room for others", () => {
  const room = new ListRoom();
  const noisy = [1, 2, 3].map(longList);
  const lists = noisy.map((slices) => room.take(["public", "noisy", "a"], slices));
  for (const list of lists) assert.equal(list.next().done, false);
  assert.throws(() => room.take(["public", "noisy", "a"], longList()).next(), Unavailable);
  const quiet = room.take(["v1", "quiet", "b"], longList());
  assert.equal(quiet.next().done, false);
  assert.deepEqual(
    noisy.map(({ length }) => length),
    [19, 19, 0],
  );
  assert.throws(() => lists[2]?.next(), Unavailable);
  assert.equal([...quiet].length, 19);
  assert.equal([...(lists[0] ?? [])].length, 19);
});

test("a list that is left, and one that has been read, take no room", () => {
  const room = new ListRoom();
  for (let i = 0; i < 20; i++) {
    const list = room.take(["public", "acme", "a"], longList());
    assert.equal(list.next().done, false);
    list.return();
    assert.equal([...room.take(["public", "acme", "a"], longList())].length, 20);
  }
});

test("a list that is longer than the room is read where it is the only one", () => {
  const room = new ListRoom();
  const list = room.take(["public", "acme", "a"], [1, 2, 3, 4, 5].flatMap(longList));
  assert.equal(list.next().done, false);
  assert.throws(() => room.take(["public", "acme", "a"], longList()).next(), Unavailable);
  assert.equal([...list].length, 99);
});
