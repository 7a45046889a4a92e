/** Checks every row of the table of event fields: each field works wherever the table says so. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, test } from "node:test";
import {
  EVENT_FIELDS,
  LONG_TEXT,
  type EventField,
  type EventFieldType,
} from "../../src/audit/event-fields.ts";
import { ingestEvent } from "../../src/audit/ingest.ts";
import { auditEvent, type AuditEvent } from "../../src/audit/schema.ts";
import { auditEventPanel } from "../../src/portal/pages/audit-event.ts";
import { AUDIT_FILTERS, FILTER_WORDS } from "../../src/portal/pages/audit-view.ts";
import { auditFilters } from "../../src/portal/pages/audit-filters.ts";
import { ADMIN, ADMIN_SETTINGS, start, START_TIME } from "../support/start.ts";

const AUDIT = "/api/v1/audit";
const FIELDS: readonly EventField[] = EVENT_FIELDS;
const docs = new URL("../../docs/", import.meta.url);
const [runtimesPage, apiPage] = ["runtimes.md", "api.md"].map((name) =>
  readFileSync(new URL(name, docs), "utf8"),
) as [string, string];

/** For each type a value that no other event of these tests has, and another value of that type. */
const VALUES: Readonly<Record<EventFieldType, readonly [special: unknown, other: unknown]>> = {
  id: ["Special-1", "other-1"],
  text: ["Special value", "other value"],
  timestamp: ["2026-11-20T01:02:03.004Z", "2026-11-20T05:00:00.000Z"],
  consumer: ["ci", "human"],
  boolean: [true, false],
  decision: ["DENIED", "ALLOWED"],
  milliseconds: [12_345, 1],
};

/** The portal shows these above its table of fields, without a label. */
const ABOVE_TABLE = ["timestamp", "command", "policy_decision"];

function inPortal(type: EventFieldType, value: string): string {
  if (type === "decision") return "Denied";
  if (type === "timestamp") return value.slice(0, 10);
  return type === "milliseconds" ? `data-value="${value}"` : value;
}

const app = await start({ after }, { ...ADMIN_SETTINGS });
const headers = await app.asUser(ADMIN);
const { body: openapi } = await app.get("/openapi.json");

/** Reports one event with a special value of a field, and one with another value. */
async function report(name: string, type: EventFieldType): Promise<AuditEvent> {
  const [special, other] = VALUES[type];
  const base = name === "provider" || name === "tool" ? {} : { provider: "-" };
  const events = [other, special].map((value) => ({ ...base, [name]: value }));
  const { status, body } = await app.post(AUDIT, { events }, headers);
  assert.equal(status, 202);
  return body.events[1] as AuditEvent;
}

for (const { name, type, alias, limit, filter, isSearched, isOwn, label } of FIELDS) {
  const [special] = VALUES[type];
  const names = isOwn ? [] : alias === undefined ? [name] : [name, alias];

  test(`${name} is in the schemas of the OpenAPI document, with a description`, () => {
    const { AuditEvent: stored, AuditEventReport: reported } = openapi.components.schemas;
    const described = (property: unknown) => (property as { description: string }).description;
    assert.ok(described(stored?.properties[name]));
    for (const given of names) assert.ok(described(reported?.properties[given]), given);
    if (isOwn) assert.equal(reported?.properties[name], undefined);
  });

  for (const given of names) {
    test(`${name} is accepted as ${given}, stored and answered`, async () => {
      assert.equal((await report(given, type))[name], special);
    });
  }

  if (alias !== undefined) {
    test(`the alias ${alias} of ${name} is in the documentation`, () => {
      assert.match(runtimesPage, new RegExp(`\`${alias}\``));
      assert.match(runtimesPage, new RegExp(`\`${name}\``));
    });
  }

  if (limit !== undefined && !isOwn) {
    test(`${name} accepts ${limit} bytes, and refuses one more`, () => {
      const most = "é".repeat(limit / 2);
      const context = { organization: "default", now: 0, ids: () => "id" };
      assert.equal(ingestEvent({ [name]: most }, "", context)[name], most);
      const message = `${name}: expected at most ${limit / 1024} KiB of text`;
      assert.throws(() => ingestEvent({ [name]: `${most}x` }, "", context), { message });
    });
  }

  if (filter !== undefined) {
    test(`the filter ${filter} finds exact values of ${name}`, async () => {
      const event = await (isOwn ? report("command", "text") : report(name, type));
      const wanted = String(event[name]);
      const { body } = await app.get(`${AUDIT}?${filter}=${encodeURIComponent(wanted)}`, headers);
      const found = body.events as AuditEvent[];
      assert.ok(found.some(({ id }) => id === event.id));
      assert.ok(found.every((other) => other[name] === wanted));
      const other = `${AUDIT}?${filter}=${encodeURIComponent(wanted.slice(1))}`;
      const { status, body: none } = await app.get(other, headers);
      // An added parameter with a fixed set of values refuses other ones.
      assert.deepEqual([status, none.total], filter === "observed" ? [400, undefined] : [200, 0]);
    });

    test(`the filter ${filter} is in the documentation and on the portal's page`, () => {
      assert.match(apiPage, new RegExp(`\`${filter}\``));
      assert.ok(AUDIT_FILTERS.includes(filter));
      assert.equal(FILTER_WORDS[filter], label);
      assert.match(String(auditFilters({})), new RegExp(`name="${filter}"`));
    });
  }

  if (type === "text" && !isOwn) {
    test(`q ${isSearched ? "searches" : "does not search"} ${name}`, async () => {
      const text = `Needle in ${name}`;
      const { body: stored } = await app.post(AUDIT, { provider: "-", [name]: text }, headers);
      const { body } = await app.get(
        `${AUDIT}?q=${encodeURIComponent(text.toLowerCase())}`,
        headers,
      );
      const ids = (body.events as AuditEvent[]).map(({ id }) => id);
      assert.deepEqual(ids, isSearched ? [stored.id] : []);
    });
  }

  test(`${name} is a column of the CSV export and shown in the portal's detail`, async () => {
    const event = await (isOwn ? report("command", "text") : report(name, type));
    const value = String(event[name]);
    const { text } = await app.get(`${AUDIT}/export?format=csv`, headers);
    const [columns = [], ...rows] = text.split("\r\n").map((line) => line.split(","));
    const row = rows.find((cells) => cells[0] === event.id);
    assert.equal(row?.[columns.indexOf(name)], value);

    const now = Date.parse(START_TIME);
    const panel = String(auditEventPanel({ view: {}, open: { event }, now, apiUrl: app.url }));
    const [shown = ""] = panel.split('<details class="raw"');
    if (!ABOVE_TABLE.includes(name)) assert.match(shown, new RegExp(`<dt>${label}</dt>`));
    assert.ok(shown.includes(inPortal(type, value)));
  });
}

test("only texts have limits, and each text has one", () => {
  for (const { name, type, limit } of FIELDS) {
    assert.equal(limit !== undefined, type === "text", name);
    assert.ok(limit === undefined || limit <= LONG_TEXT);
  }
});

test("the schema of a stored event has the fields in the order of the table", () => {
  assert.deepEqual(
    Object.keys(auditEvent.properties),
    FIELDS.map(({ name }) => name),
  );
});
