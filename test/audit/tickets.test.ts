import assert from "node:assert/strict";
import { test } from "node:test";
import { filterOf } from "../../src/audit/filter.ts";
import { ExportTickets, type TicketGrant } from "../../src/audit/tickets.ts";
import { TooMany } from "../../src/core/errors.ts";

const CALLER = ["v1", "acme", "192.0.2.1"];

function setUp() {
  let now = 1_000_000;
  const tickets = new ExportTickets(() => now);
  const issue = (grant: TicketGrant, caller = CALLER) => tickets.issue(grant, caller);
  return { tickets, issue, advance: (ms: number) => (now += ms) };
}

const isAllowed = (): boolean => true;

function grantOf(changes: Partial<TicketGrant> = {}): TicketGrant {
  const view = { format: "csv", filter: filterOf({ q: "git" }) } as const;
  return { organization: "acme", surface: "v1", view, isAllowed, ...changes };
}

test("a ticket is valid once, for its own export", () => {
  const { tickets, issue } = setUp();
  const { ticket, expiresAt } = issue(grantOf());
  assert.match(ticket, /^[\w-]{43}$/);
  assert.equal(expiresAt, 1_060_000);
  const { organization, surface, view } = tickets.take(ticket, "v1") ?? {};
  assert.deepEqual({ organization, surface, view, isAllowed }, grantOf());
  assert.equal(tickets.take(ticket, "v1"), undefined);
});

test("finding a ticket does not use it up", () => {
  const { tickets, issue } = setUp();
  const { ticket } = issue(grantOf());
  assert.equal(tickets.find(ticket, "v1")?.organization, "acme");
  assert.equal(tickets.take(ticket, "v1")?.organization, "acme");
  assert.equal(tickets.find(ticket, "v1"), undefined);
});

test("a ticket is valid until, and not at, the end of its minute", () => {
  const { tickets, issue, advance } = setUp();
  const [early, late] = [issue(grantOf()), issue(grantOf())];
  advance(59_999);
  assert.ok(tickets.take(early.ticket, "v1"));
  advance(1);
  assert.equal(tickets.take(late.ticket, "v1"), undefined);
});

test("a ticket is valid on one surface, and an attempt on another surface does not use it up", () => {
  const { tickets, issue } = setUp();
  const { ticket } = issue(grantOf({ surface: "public" }), ["public", "acme", "192.0.2.1"]);
  assert.equal(tickets.take(ticket, "v1"), undefined);
  assert.ok(tickets.take(ticket, "public"));
});

test("an invalid ticket is unknown", () => {
  const { tickets, issue } = setUp();
  const { ticket } = issue(grantOf());
  for (const text of ["", "x", `${ticket}A`, ticket.slice(1), ticket.toUpperCase()]) {
    assert.equal(tickets.take(text, "v1"), undefined);
  }
});

test("an organization can hold 100 unused tickets; using one, or its expiry, makes room", () => {
  const { tickets, issue, advance } = setUp();
  const held = Array.from({ length: 50 }, () => issue(grantOf()));
  advance(30_000);
  held.push(...Array.from({ length: 50 }, () => issue(grantOf())));
  assert.throws(
    () => issue(grantOf()),
    (error) => error instanceof TooMany && error.retryAfterSeconds === 30,
  );
  assert.ok(issue(grantOf({ organization: "other" }), ["v1", "other", "192.0.2.1"]));
  assert.ok(tickets.take(held.at(-1)?.ticket ?? "", "v1"));
  assert.ok(issue(grantOf()));
  assert.throws(() => issue(grantOf()), TooMany);
  advance(30_000);
  assert.ok(issue(grantOf()));
});

test("the address with the most tickets loses one to another address, and each prefix has its own limit", () => {
  const { tickets, issue } = setUp();
  const many = Array.from({ length: 100 }, () => issue(grantOf()).ticket);
  const other = issue(grantOf(), ["v1", "acme", "192.0.2.2"]);
  assert.ok(tickets.find(other.ticket, "v1"));
  assert.deepEqual(
    many.filter((ticket) => !tickets.find(ticket, "v1")),
    many.slice(-1),
  );
  assert.throws(() => issue(grantOf()), TooMany);
  assert.ok(issue(grantOf({ surface: "public" }), ["public", "acme", "192.0.2.1"]));
});
