import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import {
  configFromEnvironment,
  configFromOptions,
  settingRows,
  type Config,
  type SettingOptions,
} from "../src/config.ts";
import { ConfigError } from "../src/core/config-error.ts";

/** Reads the settings from an environment that has these variables and no others of ours. */
function fromEnvironment(t: TestContext, given: Readonly<Record<string, string>>): Config {
  const saved = { ...process.env };
  for (const { variable } of settingRows) delete process.env[variable];
  Object.assign(process.env, given);
  t.after(() => {
    process.env = saved;
  });
  return configFromEnvironment();
}

const fromOptions = (given: object): Config =>
  configFromOptions({ dataDir: "d", ...given } as SettingOptions);

/** The settings that have a value; the switch is replaced by its value. */
function valuesOf({ requireAuth, ...values }: Config): Readonly<Record<string, unknown>> {
  const given = Object.entries(values).filter(([, value]) => value !== undefined);
  return { ...Object.fromEntries(given), requireAuth: requireAuth() };
}

const DEFAULTS = {
  host: "127.0.0.1",
  port: 8080,
  dataDir: "./data",
  databasePoolSize: 10,
  requireAuth: false,
  publicSurface: "open",
  jwtExpiryHours: 24,
  corsOrigins: [],
  corsPagesDev: "on",
  allowedHosts: [],
  catalogSource: "embed",
  environment: "development",
  edition: "community",
  maxConnections: 10_000,
  maxBodyBytes: 8_388_608,
  maxBatchEvents: 10_000,
  auditDurability: "sync",
  auditRedaction: "on",
  auditSegmentBytes: 67_108_864,
  checkpointSeconds: 0,
  auditRetentionDays: 0,
  activityRetentionDays: 400,
  maxActivityBytes: 268_435_456,
  maxAuditBytes: 274_877_906_944,
  maxRuntimes: 250_000,
  maxPolicyVersions: 10_000,
  maxUsers: 10_000,
  maxApiKeys: 10_000,
  maxOrganizations: 10_000,
  publicMaxAuditBytes: 17_179_869_184,
  publicMaxRuntimes: 25_000,
  publicMaxPolicyVersions: 1_000,
  fleetForgetDays: 90,
  trustProxy: 0,
  metrics: "off",
  demo: false,
  logLevel: "info",
};

/** They need `checkpointSeconds`; the journeys of checkpoints test them. */
const ofCheckpoints = ["checkpointFile", "checkpointUrl", "logSigningKey", "logSigningKeyPrevious"];

function assertHasDefaults(config: Config, changes: object): void {
  const values = valuesOf(config);
  const expected = { ...DEFAULTS, ...changes };
  for (const [name, value] of Object.entries(expected)) assert.deepEqual(values[name], value, name);
  const unset = ["jwtSecret", "baseUrl", "adminEmail", "adminPassword"];
  for (const name of [...unset, ...ofCheckpoints]) {
    assert.equal(values[name], undefined, name);
  }
}

test("without any variable every setting has its documented default", (t) => {
  assertHasDefaults(fromEnvironment(t, {}), {});
});

test("an empty variable is unset", (t) => {
  const empty = Object.fromEntries(settingRows.map(({ variable }) => [variable, ""]));
  assertHasDefaults(fromEnvironment(t, empty), {});
});

test("an embedder's defaults are a free port and no log", () => {
  assertHasDefaults(fromOptions({}), { dataDir: "d", port: 0, logLevel: "silent" });
});

test("an option that is undefined or empty is unset", () => {
  const changes = { dataDir: "d", port: 0, logLevel: "silent" };
  const names = settingRows.map(({ option }) => option).filter((option) => option !== "dataDir");
  assertHasDefaults(
    fromOptions(Object.fromEntries(names.map((name) => [name, undefined]))),
    changes,
  );
  const texts = ["host", "jwtSecret", "baseUrl", "adminEmail", "adminPassword", "environment"];
  assertHasDefaults(fromOptions(Object.fromEntries(texts.map((name) => [name, ""]))), changes);
  assertHasDefaults(fromOptions({ corsOrigins: [] }), changes);
});

test("options never read the environment", (t) => {
  const bad = Object.fromEntries(settingRows.map(({ variable }) => [variable, "nonsense"]));
  assert.throws(() => fromEnvironment(t, bad), ConfigError);
  assertHasDefaults(fromOptions({}), { dataDir: "d", port: 0, logLevel: "silent" });
});

interface Case {
  readonly option: string;
  /** The text in the environment, and its value. */
  readonly good: readonly (readonly [text: string, value: unknown])[];
  readonly bad: readonly string[];
  /** Invalid values of an embedder, beside the bad texts. */
  readonly wrong: readonly unknown[];
  /** A bad text as a message shows it; as JSON if absent. */
  readonly shown?: string;
}

const MIB = 1024 * 1024;

const cases: readonly Case[] = [
  { option: "host", good: [["::", "::"]], bad: [], wrong: [1, null, []] },
  {
    option: "port",
    good: [
      ["0", 0],
      ["65535", 65_535],
      ["008", 8],
    ],
    bad: ["65536", "-1", "80.5", "8e3", " 80", "80 ", "0x50", "http", "１"],
    wrong: ["80", 80.5, -1, Number.NaN, Infinity, null, true, 65_536],
  },
  {
    option: "databaseUrl",
    good: [
      ["postgres://u:p@db.example:5433/signalbox", "postgres://u:p@db.example:5433/signalbox"],
      ["postgresql://db/signalbox?sslmode=require", "postgresql://db/signalbox?sslmode=require"],
    ],
    bad: ["db.example", "mysql://u:p@db/x", "http://db", "postgres//db", " "],
    wrong: [true, null, 1],
    shown: "the value given",
  },
  {
    option: "databasePoolSize",
    good: [
      ["2", 2],
      ["1000", 1_000],
    ],
    bad: ["1", "1001", "ten", "-2"],
    wrong: ["10", 2.5, null],
  },
  {
    option: "requireAuth",
    good: [
      ["true", true],
      ["false", false],
    ],
    bad: ["TRUE", "yes", "1", "0", " true", "on"],
    wrong: ["true", 1, null],
  },
  {
    option: "publicSurface",
    good: [
      ["open", "open"],
      ["off", "off"],
    ],
    bad: ["OFF", "closed", "true"],
    wrong: [false, null],
  },
  {
    option: "jwtExpiryHours",
    good: [
      ["1", 1],
      ["0.25", 0.25],
      ["0.000001", 0.000001],
      ["8784", 8784],
    ],
    bad: ["0", "0.0", "0.0000001", "-1", "8785", "24h", "1e3", ".5", "Infinity"],
    wrong: ["24", 0, -1, Number.NaN, Infinity, 8785, 1e-9],
  },
  {
    option: "corsOrigins",
    good: [
      ["*", ["*"]],
      ["https://a.example, http://localhost:3000,", ["https://a.example", "http://localhost:3000"]],
    ],
    bad: [
      " , ",
      "a.example",
      "https://a.example/",
      "https://a.example/x",
      "https://A.example",
      "https://a.example:443",
      "https://*.a.example",
      "null",
      "https://a.example https://b.example",
    ],
    wrong: [1, null, [1], {}],
  },
  {
    option: "corsPagesDev",
    good: [
      ["on", "on"],
      ["off", "off"],
    ],
    bad: ["true", "OFF", "yes"],
    wrong: [true, 1, null],
  },
  {
    option: "allowedHosts",
    good: [
      ["Box.example, 192.0.2.7,", ["box.example", "192.0.2.7"]],
      ["[2001:DB8::7],::1", ["2001:db8::7", "::1"]],
    ],
    bad: [
      ",",
      "*",
      "*.example",
      "https://box.example",
      "box.example:80",
      "a b",
      "a/b",
      "u@box.example",
    ],
    wrong: [1, null, ["a b"], {}],
  },
  {
    option: "catalogSource",
    good: [
      ["./c.json", "./c.json"],
      ["C:/c.json", "C:/c.json"],
      ["https://user:pw@c.example/c.json", "https://user:pw@c.example/c.json"],
    ],
    bad: ["https://", "http://c.example:99999/c.json", "ftp://c.example/c.json", "file:///c.json"],
    wrong: [1, null],
  },
  {
    option: "baseUrl",
    good: [
      ["https://s.example", "https://s.example"],
      ["https://s.example/", "https://s.example"],
      ["http://s.example:81/base//", "http://s.example:81/base"],
      [" https://s.example ", "https://s.example"],
    ],
    bad: [
      "https://s.example/?a=1",
      "https://s.example/#x",
      "s.example",
      "ftp://s.example",
      "javascript:alert(1)",
      "//s.example",
      "https://",
    ],
    wrong: [1, null],
  },
  { option: "environment", good: [["prod", "prod"]], bad: [], wrong: [1] },
  { option: "edition", good: [["team", "team"]], bad: [], wrong: [1] },
  {
    option: "maxConnections",
    good: [["16", 16]],
    bad: ["15", "1000001", "many"],
    wrong: ["16", 15, 16.5],
  },
  {
    option: "maxBodyBytes",
    good: [
      ["1024", 1024],
      [String(64 * MIB), 64 * MIB],
    ],
    bad: ["1023", String(64 * MIB + 1), "8MiB", "0", "-1"],
    wrong: ["1024", 1023],
  },
  {
    option: "maxBatchEvents",
    good: [["1", 1]],
    bad: ["0", "1000001", "many"],
    wrong: ["1", 0, 1.5],
  },
  {
    option: "demo",
    good: [
      ["true", true],
      ["false", false],
    ],
    bad: ["TRUE", "yes", "1"],
    wrong: ["true", 1, null],
  },
  {
    option: "auditDurability",
    good: [
      ["sync", "sync"],
      ["write", "write"],
    ],
    bad: ["none", "Sync"],
    wrong: [true],
  },
  {
    option: "auditRedaction",
    good: [
      ["on", "on"],
      ["off", "off"],
    ],
    bad: ["true", "ON"],
    wrong: [true],
  },
  {
    option: "auditSegmentBytes",
    good: [["65536", 65_536]],
    bad: ["65535", String(1024 * MIB + 1)],
    wrong: ["65536", 65_535],
  },
  ...["maxAuditBytes", "publicMaxAuditBytes"].map((option) => ({
    option,
    good: [["1048576", MIB]] as const,
    bad: ["1048575", "0", "1 GiB"],
    wrong: [1, true],
  })),
  ...[
    "maxRuntimes",
    "maxPolicyVersions",
    "maxUsers",
    "maxApiKeys",
    "maxOrganizations",
    "publicMaxRuntimes",
    "publicMaxPolicyVersions",
  ].map((option) => ({
    option,
    good: [
      ["1", 1],
      ["1000000", 1_000_000],
    ] as const,
    bad: ["0", "10000001", "1.5", "many"],
    wrong: [0, 1.5, true],
  })),
  {
    option: "activityRetentionDays",
    good: [
      ["0", 0],
      ["36500", 36_500],
    ],
    bad: ["-1", "36501", "1.5", "a year"],
    wrong: [-1, 1.5, true],
  },
  { option: "fleetForgetDays", good: [["0", 0]], bad: ["-1", "36501", "90d"], wrong: [-1, true] },
  {
    option: "maxActivityBytes",
    good: [["67108864", 64 * MIB]],
    bad: ["67108863", "0", "64 MiB"],
    wrong: [1, 1.5, true],
  },
  {
    option: "checkpointSeconds",
    good: [
      ["0", 0],
      ["86400", 86_400],
    ],
    bad: ["86401", "-1", "1.5", "90d", "forever"],
    wrong: ["90", -1, 0.5, null],
  },
  {
    option: "auditRetentionDays",
    good: [
      ["0", 0],
      ["36500", 36_500],
    ],
    bad: ["36501", "-1", "1.5", "90d", "forever"],
    wrong: ["90", -1, 0.5, null],
  },
  {
    option: "trustProxy",
    good: [
      ["0", 0],
      ["16", 16],
    ],
    bad: ["17", "true", "-1", "10.0.0.0/8"],
    wrong: [true, "1", 17],
  },
  {
    option: "roles",
    good: [
      ["carried", "carried"],
      ["enforced", "enforced"],
    ],
    bad: ["true", "Enforced", "off"],
    wrong: [true, 1],
  },
  {
    option: "metrics",
    good: [
      ["off", "off"],
      ["open", "open"],
      ["s3cret-token!", "s3cret-token!"],
      ["on-call", "on-call"],
    ],
    bad: ["OFF", "on", "false", "Open", "True", "yes", "no", "0", "a b"],
    wrong: [true, null, 1],
    shown: "the value given",
  },
  {
    option: "logLevel",
    good: [
      ["debug", "debug"],
      ["silent", "silent"],
    ],
    bad: ["trace", "INFO", "warning"],
    wrong: [1, true],
  },
];

/** A quoted value; the query of a URL may be a secret. */
function withoutQuery(text: string): string {
  return JSON.stringify(text.replace(/\?.*/, "?…"));
}

for (const { option, good, bad, wrong, shown } of cases) {
  const row = settingRows.find((each) => each.option === option);
  const variable = row?.variable ?? "";
  const accepts = row?.accepts ?? "";

  test(`${variable} reads what it accepts, from the environment and as an option`, (t) => {
    for (const [text, value] of good) {
      assert.deepEqual(valuesOf(fromEnvironment(t, { [variable]: text }))[option], value);
      assert.deepEqual(valuesOf(fromOptions({ [option]: value }))[option], value);
    }
  });

  test(`${variable} stops the start for any other value, in one line that names it`, (t) => {
    for (const text of bad) {
      assert.throws(
        () => fromEnvironment(t, { [variable]: text }),
        (error: Error) =>
          error instanceof ConfigError &&
          error.message ===
            `${variable}: ${shown ?? withoutQuery(text)} is not understood, expected ${accepts}`,
        text,
      );
    }
    for (const value of [...wrong, ...bad.filter(() => typeof good[0]?.[1] === "string")]) {
      assert.throws(
        () => fromOptions({ [option]: value }),
        (error: Error) =>
          error instanceof ConfigError &&
          error.message.startsWith(`${option}: `) &&
          error.message.endsWith(` is not understood, expected ${accepts}`) &&
          !error.message.includes("\n"),
        String(value),
      );
    }
  });
}

test("the tested settings and the free texts are all settings", () => {
  const free = ["dataDir", "jwtSecret", "adminEmail", "adminPassword"];
  const tested = cases.map(({ option }) => option);
  const all = settingRows.map(({ option }) => option);
  assert.deepEqual([...all].sort(), [...tested, ...free, ...ofCheckpoints].sort());
});

test("free texts are read unchanged", (t) => {
  const config = fromEnvironment(t, {
    DATA_DIR: "/srv/data dir",
    JWT_SECRET: " s3cret\t",
    ADMIN_EMAIL: "a@b.example",
    ADMIN_PASSWORD: " pass word ",
  });
  assert.equal(config.dataDir, "/srv/data dir");
  assert.equal(config.jwtSecret, " s3cret\t");
  assert.equal(config.adminEmail, "a@b.example");
  assert.equal(config.adminPassword, " pass word ");
});

test("with authentication on, a secret of fewer than 16 bytes stops the start", (t) => {
  const short = "é".repeat(7); // 14 bytes
  const expected = (name: string, other: string) =>
    `${name}: the value given is too short, expected at least 16 bytes while ${other} is true, better 32 random ones`;
  assert.throws(() => fromEnvironment(t, { JWT_SECRET: short, REQUIRE_AUTH: "true" }), {
    name: "ConfigError",
    message: expected("JWT_SECRET", "REQUIRE_AUTH"),
  });
  assert.throws(() => fromEnvironment(t, { JWT_SECRET: short, DEMO: "true" }), ConfigError);
  for (const requireAuth of [true, () => true, () => assert.fail("it is broken")]) {
    assert.throws(() => fromOptions({ jwtSecret: short, requireAuth }), {
      message: expected("jwtSecret", "requireAuth"),
    });
  }
  assert.equal(fromOptions({ jwtSecret: short, requireAuth: () => false }).jwtSecret, short);
  assert.equal(fromOptions({ jwtSecret: `${short}12`, requireAuth: true }).requireAuth(), true);
});

test("an admin needs both email and password, and the message contains neither", (t) => {
  for (const given of [{ ADMIN_EMAIL: "a@b.example" }, { ADMIN_PASSWORD: "hunter2hunter2" }]) {
    assert.throws(
      () => fromEnvironment(t, { ADMIN_EMAIL: "", ADMIN_PASSWORD: "", ...given }),
      (error: Error) =>
        error instanceof ConfigError &&
        /ADMIN_EMAIL.*ADMIN_PASSWORD/.test(error.message) &&
        !/hunter2|a@b/.test(error.message),
    );
  }
});

test("no message contains a secret, from any source", () => {
  for (const option of ["jwtSecret", "adminPassword", "metrics"]) {
    for (const value of [["hunter2"], { text: "hunter2" }, 4_242_424_242, Buffer.from("hunter2")]) {
      assert.throws(
        () => fromOptions({ adminEmail: "a@b.example", [option]: value }),
        (error: Error) =>
          error instanceof ConfigError &&
          error.message.startsWith(`${option}: the value given is not understood`) &&
          !/hunter2|4242/.test(error.message),
      );
    }
  }
});

test("no message contains the user-info of an address", (t) => {
  for (const [variable, address, shown] of [
    ["BASE_URL", "https://ada:hunter2@s.example", "https://…@s.example"],
    ["CATALOG_SOURCE", "ftp://ada:hun/ter@c.example", "ftp://…@c.example"],
    ["CATALOG_SOURCE", "http://ada:hunter2@c.example:99999/c", "http://…@c.example:99999/c"],
    ["CORS_ORIGINS", "https://a.example,http://ada@b.example", "https://…@b.example"],
  ] as const) {
    assert.throws(
      () => fromEnvironment(t, { [variable]: address }),
      (error: Error) => error.message.startsWith(`${variable}: "${shown}" is not understood, `),
    );
  }
});

test("an unknown option is refused by name, a missing data directory too", () => {
  for (const name of ["prot", "PORT", "toString", "__proto__x"]) {
    assert.throws(
      () => fromOptions({ [name]: 1 }),
      new ConfigError(`${name}: there is no such option`),
    );
  }
  for (const dataDir of [undefined, "", null]) {
    assert.throws(() => fromOptions({ dataDir }), /^ConfigError: dataDir: required/);
  }
});

test("the switch is read on every request, and an unreadable value means true", (t) => {
  const config = fromEnvironment(t, { REQUIRE_AUTH: "false" });
  for (const [text, expected] of [
    ["false", false],
    ["true", true],
    ["", false],
    ["flase", true],
    ["FALSE", true],
    ["0", true],
    [" false", true],
    ["false", false],
  ] as const) {
    process.env["REQUIRE_AUTH"] = text;
    assert.equal(config.requireAuth(), expected, text);
  }
  delete process.env["REQUIRE_AUTH"];
  assert.equal(config.requireAuth(), false);
});

test("an embedder's function is called every time, and only false means false", () => {
  const answers = [false, true, false, undefined, null, 0, "false", Promise.resolve(false)];
  let next = 0;
  const config = fromOptions({ requireAuth: () => answers[next++] });
  const asked = answers.map(() => config.requireAuth());
  assert.deepEqual(asked, [false, true, false, true, true, true, true, true]);
  const failing = fromOptions({
    requireAuth() {
      throw new Error("unreadable");
    },
  });
  assert.equal(failing.requireAuth(), true);
});

test("every setting states its variable and its accepted values", () => {
  const variables = settingRows.map(({ variable }) => variable);
  assert.equal(new Set(variables).size, variables.length);
  for (const { option, variable, accepts } of settingRows) {
    const asVariable = option.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
    assert.equal(variable, asVariable);
    assert.ok(accepts.length > 0, option);
  }
});

test("a demo requires authentication unless the setting says otherwise", (t) => {
  assert.equal(fromEnvironment(t, { DEMO: "true" }).requireAuth(), true);
  assert.equal(fromEnvironment(t, { DEMO: "true", REQUIRE_AUTH: "false" }).requireAuth(), false);
  assert.equal(fromEnvironment(t, { DEMO: "false" }).requireAuth(), false);
  assert.equal(fromOptions({ demo: true }).requireAuth(), true);
  assert.equal(fromOptions({ demo: true, requireAuth: false }).requireAuth(), false);
  assert.equal(fromOptions({ demo: true, requireAuth: () => false }).requireAuth(), false);
});
