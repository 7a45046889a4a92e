/**
 * The limits of requests: a body or a query that fits the served OpenAPI document is not refused with 400, and one
 * that does not fit is. Each limit is tried on both of its sides.
 */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { start } from "../support/start.ts";

const app = await start({ after });
const { body: document } = await app.get("/openapi.json");

const ajv = new Ajv2020({ strict: false });
addFormats.default(ajv);
ajv.addFormat("email", true); // RFC 5321 allows a domain of one label, and Ajv's format does not
ajv.addSchema(document, "document");

/** Whether a value fits a schema at a place in the document. */
function fits(place: readonly string[], value: unknown): boolean {
  const names = place.map((name) => name.replaceAll("~", "~0").replaceAll("/", "~1"));
  const pointer = names.map((name) => encodeURIComponent(name)).join("/");
  return ajv.validate({ $ref: `document#/${pointer}` }, value) as boolean;
}

/** Values on both sides of a limit. */
interface Sides {
  readonly right: readonly unknown[];
  readonly wrong: readonly unknown[];
}

const A65 = "a".repeat(65);
const EMOJI = "😀".repeat(64);
const KIB = 1_024;
const YAML = "schema: signalbox/policy/v1\ndefault: deny\nrules: []\n";
const PASSWORD = "correct horse battery";

const FILTERS: Sides = {
  right: [
    { not_consumer: "ci", not_decision: "denied", not_observed: "ALLOWED", observed: "allowed" },
    { wildcards: "executor" },
    { wildcards: " executor , not_runtime", executor: "a*" },
    { decision: "maybe", consumer: "robot" },
  ],
  wrong: [
    { not_consumer: "robot" },
    { not_decision: "maybe" },
    { not_observed: "maybe" },
    { observed: "maybe" },
    { wildcards: "trace_id" },
    { wildcards: "executor," },
    { wildcards: "not_consumer" },
  ],
};

const LABELS: Sides = {
  right: [{ a: "b" }, { "a._/-b": EMOJI }, { ["a".repeat(64)]: " " }],
  wrong: [
    { "a b": "c" },
    { "-a": "b" },
    { "": "b" },
    { [A65]: "b" },
    { a: "" },
    { a: `${EMOJI}a` },
    { a: "b\tc" },
    { a: "\u2028" },
  ],
};

const EMAILS: Sides = {
  right: ["ada@example.com", "ada@localhost", "A.+~@x-y.z"],
  wrong: ["", "ada", "ada@", "ada@-a.com", "a b@c.com", "ä@exämple.com", "ada@a..com"],
};

/** Bodies that each contain one of the values. */
function each({ right, wrong }: Sides, body: (value: unknown) => unknown): Sides {
  return { right: right.map(body), wrong: wrong.map(body) };
}

/** Every value, and whether it is right. */
function sidesOf({ right, wrong }: Sides): readonly (readonly [unknown, boolean])[] {
  return [
    ...right.map((value) => [value, true] as const),
    ...wrong.map((value) => [value, false] as const),
  ];
}

const BODIES: readonly (Sides & {
  readonly method: "POST" | "PATCH" | "PUT";
  readonly path: string;
})[] = [
  {
    method: "PATCH",
    path: "/organizations/{id}",
    right: [{ name: " a " }],
    wrong: [{ name: "" }, { name: " \n" }, {}],
  },
  {
    method: "POST",
    path: "/organizations",
    right: [{ name: "Acme", admin_email: "ada@acme.example", admin_password: PASSWORD }],
    wrong: [
      { name: " ", admin_email: "bob@acme.example", admin_password: PASSWORD },
      { name: "Acme", admin_email: "bob", admin_password: PASSWORD },
    ],
  },
  {
    method: "POST",
    path: "/users",
    ...each(EMAILS, (email) => ({ email, password: PASSWORD })),
  },
  {
    method: "POST",
    path: "/auth/login",
    ...each({ ...EMAILS, right: [] }, (email) => ({ email, password: PASSWORD })),
  },
  {
    method: "POST",
    path: "/api-keys",
    right: [{ name: "a" }],
    wrong: [{ name: "" }, { name: " " }],
  },
  { method: "POST", path: "/audit/redact", right: [{ text: " " }], wrong: [{ text: "" }] },
  {
    method: "PUT",
    path: "/settings",
    right: [{ settings: [{ key: " ", value: "" }] }, { settings: [] }],
    wrong: [{ settings: [{ key: "" }] }],
  },
  {
    method: "POST",
    path: "/rollouts",
    ...each(
      {
        right: [
          [{ percent: 5 }],
          [{ names: ["a"] }, { hold_minutes: 1, percent: 5 }],
          ...LABELS.right.map((labels) => [{ labels }]),
        ],
        wrong: [
          [],
          [{}],
          [{ hold_minutes: 1 }],
          [{ names: [] }],
          [{ names: [" "] }],
          [{ labels: {} }],
          ...LABELS.wrong.map((labels) => [{ labels }]),
        ],
      },
      (stages) => ({ version: "none", stages }),
    ),
  },
  {
    method: "POST",
    path: "/policies/draft-rule",
    right: [
      { effect: "deny", event: "none" },
      { effect: "deny", events: ["none"] },
    ],
    wrong: [
      { effect: "deny" },
      { effect: "deny", event: "" },
      { effect: "deny", events: [] },
      { effect: "deny", event: "none", events: ["none"] },
    ],
  },
  {
    method: "POST",
    path: "/policies",
    ...each(
      {
        right: [{ max_newly_denied: 0 }, { max_newly_allowed: 0, window_hours: 1 }],
        wrong: [{}, { window_hours: 1 }],
      },
      (guard) => ({ yaml: YAML, activate: false, guard }),
    ),
  },
  {
    method: "POST",
    path: "/policies/simulate",
    right: [
      { command: "ls", yaml: YAML },
      { capability: "fs/read", version: "none" },
    ],
    wrong: [
      { yaml: YAML },
      { yaml: YAML, command: "" },
      { command: "ls", yaml: YAML, version: "none" },
    ],
  },
  {
    method: "POST",
    path: "/policies/replay",
    ...each(FILTERS, (filter) => ({ yaml: YAML, ...(filter as object) })),
  },
  {
    method: "POST",
    path: "/policies/replay",
    right: [{ version: "none" }],
    wrong: [{ yaml: YAML, version: "none" }],
  },
  { method: "POST", path: "/audit/export-tickets", ...FILTERS },
  {
    method: "POST",
    path: "/audit/export-tickets",
    right: [{ format: "csv", bom: true }, { bom: false }],
    wrong: [{ bom: true }, { format: "ndjson", bom: true }],
  },
  {
    method: "POST",
    path: "/fleet/heartbeat",
    ...each(LABELS, (labels) => ({ name: "a", labels })),
  },
  {
    method: "POST",
    path: "/runtime/register",
    right: [{ name: " a ", labels: {} }],
    wrong: [{ name: " " }, { name: "" }],
  },
  {
    method: "POST",
    path: "/audit",
    right: [
      { command: "ls" },
      { events: [{ command: "ls" }] },
      { events: [] },
      { executor: "a".repeat(64 * KIB) },
      { id: "exported" },
    ],
    wrong: [
      {},
      { events: { a: 1 } },
      { events: [{}] },
      { events: [{ ai: 0 }] },
      { events: [{ command: "ls" }, { id: "a b" }] },
      { executor: "a".repeat(64 * KIB + 1) },
      { id: "export" },
    ],
  },
];

for (const { method, path, ...sides } of BODIES) {
  const place = ["paths", `/api/v1${path}`, method.toLowerCase(), "requestBody", "content"];
  for (const [body, isRight] of sidesOf(sides)) {
    const shown = JSON.stringify(body).slice(0, 120);
    test(`${method} ${path} ${isRight ? "takes" : "refuses"} ${shown}, as documented`, async () => {
      assert.equal(fits([...place, "application/json", "schema"], body), isRight);
      const target = `/api/v1${path.replace("{id}", "default")}`;
      const answer = await app.request(method, target, body);
      assert.equal(answer.status !== 400, isRight, answer.text);
    });
  }
}

const QUERIES: readonly (Sides & { readonly path: string })[] = [
  ...["", "/export", "/facets", "/histogram"].map((end) => ({ path: `/audit${end}`, ...FILTERS })),
  {
    path: "/fleet",
    right: [{ label: "env:staging" }, { label: "a:b:\n" }],
    wrong: [{ label: "env" }, { label: ":a" }, { label: "a:" }],
  },
];

for (const { path, ...sides } of QUERIES) {
  const { parameters } = document.paths[`/api/v1${path}`].get;
  for (const [given, isRight] of sidesOf(sides)) {
    const query = given as Readonly<Record<string, string>>;
    const search = new URLSearchParams(query).toString();
    test(`GET ${path}?${search} is ${isRight ? "taken" : "refused"}, as documented`, async () => {
      // An unknown value of a filter of the contract matches nothing, though the document lists the known ones.
      const listed = Object.entries(query).filter(
        ([name]) => !/^(?:decision|consumer)$/.test(name),
      );
      const isFitting = listed.every(([name, value]) => {
        const at = parameters.findIndex((one: { name: string }) => one.name === name);
        const { schema } = parameters[at];
        const place = ["paths", `/api/v1${path}`, "get", "parameters", String(at), "schema"];
        return fits(place, schema.type === "array" ? [value] : value);
      });
      assert.equal(isFitting, isRight);
      const answer = await app.get(`/api/v1${path}?${search}`);
      assert.equal(answer.status !== 400, isRight, answer.text);
    });
  }
}
