import assert from "node:assert/strict";
import { test } from "node:test";
import { filterOf } from "../../src/audit/filter.ts";
import { ExportTickets, type TicketGrant } from "../../src/audit/tickets.ts";
import { TooMany } from "../../src/core/errors.ts";

function setUp() {
  let now = 1_000_000;
  const tickets = new ExportTickets(() => now);
  return { tickets, advance: (ms: number) => (now += ms) };
}

function grantOf(changes: Partial<TicketGrant> = {}): TicketGrant {
  const view = { format: "csv", filter: filterOf({ q: "git" }) } as const;
  return { organization: "acme", surface: "v1", view, ...changes };
}

test("a ticket is good once, for what it was made for", () => {
  const { tickets } = setUp();
  const { ticket, expiresAt } = tickets.issue(grantOf());
  assert.match(ticket, /^[\w-]{43}$/);
  assert.equal(expiresAt, 1_060_000);
  const { organization, surface, view } = tickets.take(ticket, "v1") ?? {};
  assert.deepEqual({ organization, surface, view }, grantOf());
  assert.equal(tickets.take(ticket, "v1"), undefined);
});

test("looking at a ticket does not use it up", () => {
  const { tickets } = setUp();
  const { ticket } = tickets.issue(grantOf());
  assert.equal(tickets.find(ticket, "v1")?.organization, "acme");
  assert.equal(tickets.take(ticket, "v1")?.organization, "acme");
  assert.equal(tickets.find(ticket, "v1"), undefined);
});

test("a ticket is good until, and not at, the end of its minute", () => {
  const { tickets, advance } = setUp();
  const [early, late] = [tickets.issue(grantOf()), tickets.issue(grantOf())];
  advance(59_999);
  assert.ok(tickets.take(early.ticket, "v1"));
  advance(1);
  assert.equal(tickets.take(late.ticket, "v1"), undefined);
});

test("a ticket is of one surface, and trying another does not use it up", () => {
  const { tickets } = setUp();
  const { ticket } = tickets.issue(grantOf({ surface: "public" }));
  assert.equal(tickets.take(ticket, "v1"), undefined);
  assert.ok(tickets.take(ticket, "public"));
});

test("what is no ticket is unknown", () => {
  const { tickets } = setUp();
  const { ticket } = tickets.issue(grantOf());
  for (const text of ["", "x", `${ticket}A`, ticket.slice(1), ticket.toUpperCase()]) {
    assert.equal(tickets.take(text, "v1"), undefined);
  }
});

test("an organization can hold 100 unused tickets; using one, or its end, makes room", () => {
  const { tickets, advance } = setUp();
  const held = Array.from({ length: 50 }, () => tickets.issue(grantOf()));
  advance(30_000);
  held.push(...Array.from({ length: 50 }, () => tickets.issue(grantOf())));
  assert.throws(
    () => tickets.issue(grantOf()),
    (error) => error instanceof TooMany && error.retryAfterSeconds === 30,
  );
  assert.ok(tickets.issue(grantOf({ organization: "other" })));
  assert.ok(tickets.take(held.at(-1)?.ticket ?? "", "v1"));
  assert.ok(tickets.issue(grantOf()));
  assert.throws(() => tickets.issue(grantOf()), TooMany);
  advance(30_000);
  assert.ok(tickets.issue(grantOf()));
});
