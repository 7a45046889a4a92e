/**
 * Reads the settings from the environment or from options, and checks them. The only reader of
 * `process.env`. An invalid setting prevents the start.
 */
import { ConfigError } from "./core/config-error.ts";
import { quoted } from "./core/setting-kinds.ts";
import { misspelledSettings } from "./misspelled-settings.ts";
import { settingTable, type SettingRow } from "./setting-table.ts";

type Values = {
  readonly [K in keyof typeof settingTable]: (typeof settingTable)[K] extends SettingRow<infer T>
    ? T
    : never;
};

const LEAST_SECRET_BYTES = 16;

type Unset =
  | "databaseUrl"
  | "jwtSecret"
  | "baseUrl"
  | "adminEmail"
  | "adminPassword"
  | "checkpointFile"
  | "checkpointUrl"
  | "logSigningKey"
  | "logSigningKeyPrevious";

/** Settings that have no effect unless logs are signed. */
const NEED_CHECKPOINTS = [
  "checkpointFile",
  "checkpointUrl",
  "logSigningKey",
  "logSigningKeyPrevious",
] as const;

/** Checked settings. `requireAuth` is called on every request, so that the switch works at once. */
export type Config = Omit<Values, "requireAuth" | Unset> & {
  readonly [K in Unset]: string | undefined;
} & {
  readonly requireAuth: () => boolean;
  /** Replaces the names of settings in a message by those of their source: variables, or an embedder's options. */
  readonly named: (message: string) => string;
  /** Sentences about variables that look like misspelled settings. An embedder's unknown option is refused instead. */
  readonly misspelled?: readonly string[];
};

/** The settings of an embedder: `dataDir` or `databaseUrl` is required, all others have a default. */
export type SettingOptions = Partial<Omit<Values, "dataDir" | "requireAuth">> & {
  /** The directory for all stored data; required without `databaseUrl`. */
  readonly dataDir?: string;
  /** Whether `/api/v1` requires credentials; a function is called on every request. */
  readonly requireAuth?: boolean | (() => boolean);
};

const OPTIONS: ReadonlyMap<string, string> = new Map(
  Object.entries(settingTable).map(([option, { variable }]) => [variable, option]),
);

/** The variables of the commands that call a service; an empty variable counts as unset. */
export interface ClientEnvironment {
  readonly SIGNALBOX_URL?: string | undefined;
  readonly SIGNALBOX_API_KEY?: string | undefined;
  readonly SIGNALBOX_TOKEN?: string | undefined;
  readonly NO_COLOR?: string | undefined;
}

/** The environment of a command. */
export function clientEnvironment(): ClientEnvironment {
  return process.env;
}

/** The time of a build in seconds, as text; `undefined` if it is not fixed. */
export function sourceDateEpoch(): string | undefined {
  return process.env["SOURCE_DATE_EPOCH"] || undefined;
}

/** The settings for documents and tests: name, default, accepted values. */
export const settingRows = Object.entries(settingTable).map(([option, row]) => ({
  option,
  variable: row.variable,
  fallback: row.fallback,
  accepts: row.kind.accepts,
}));

/**
 * Reads the settings from the environment; an empty variable counts as unset.
 *
 * @throws ConfigError naming the first invalid variable
 */
export function configFromEnvironment(): Config {
  const config = build((option) => {
    const { variable } = settingTable[option];
    return { name: variable, given: process.env[variable] || undefined };
  });
  // An invalid value at run time means true: a mistake must not switch authentication off.
  return withSafeSecret({
    ...config,
    misspelled: misspelledSettings(Object.keys(process.env)),
    requireAuth: () =>
      settingTable.requireAuth.kind.parse(process.env["REQUIRE_AUTH"] || String(config.demo)) ??
      true,
  });
}

/**
 * Reads the settings of an embedder. The environment is never read, and an unknown option is
 * refused; the default is a free port and no log.
 *
 * @throws ConfigError naming the first invalid option
 */
export function configFromOptions(options: SettingOptions): Config {
  const known = Object.keys(settingTable);
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown !== undefined) throw new ConfigError(`${unknown}: there is no such option`);
  const { dataDir = options.databaseUrl && "./data" } = options;
  if (!dataDir) {
    throw new ConfigError("dataDir: required, the directory that holds everything stored");
  }
  const { requireAuth, port = 0, logLevel = "silent" } = options;
  const values: Readonly<Record<string, unknown>> = {
    ...options,
    port,
    logLevel,
    ...(typeof requireAuth === "function" ? { requireAuth: undefined } : {}),
  };
  const config = build((option) => {
    const value = values[option];
    if (value === undefined) return { name: option, given: undefined };
    const row = settingTable[option];
    const asText = row.kind.textOf(value);
    if (asText === undefined) throw notUnderstood(option, row, withType(value));
    if (asText.includes("\0")) throw notUnderstood(option, row, "a value with a NUL character");
    const given = asText || undefined; // an empty secret would protect nothing
    return { name: option, given, ...(typeof value === "number" && { shown: asText }) };
  });
  return withSafeSecret({
    ...config,
    named: withOptions,
    requireAuth:
      typeof requireAuth === "function" ? () => isNotFalse(requireAuth) : config.requireAuth,
  });
}

/** Refuses a secret that can be guessed from one token, if tokens give access to anything. */
function withSafeSecret(config: Config): Config {
  const { jwtSecret, requireAuth, named } = config;
  if (jwtSecret === undefined || Buffer.byteLength(jwtSecret) >= LEAST_SECRET_BYTES) return config;
  if (!requireAuth()) return config;
  const bounds = `at least ${LEAST_SECRET_BYTES} bytes while REQUIRE_AUTH is true`;
  throw new ConfigError(
    named(`JWT_SECRET: the value given is too short, expected ${bounds}, better 32 random ones`),
  );
}

/** Replaces variables in a message by options. Quoted text came from the user, and stays. */
function withOptions(message: string): string {
  return message.replaceAll(/"[^"]*"|\b[A-Z][A-Z_]+\b/g, (found) => OPTIONS.get(found) ?? found);
}

/** The value of an embedder's switch: only a plain `false` switches authentication off, an error does not. */
function isNotFalse(read: () => boolean): boolean {
  try {
    return read() !== false;
  } catch {
    return true;
  }
}

type Option = keyof typeof settingTable;

/** A setting by its name at its source, and how a message shows it; by default quoted. */
interface Given {
  readonly name: string;
  readonly given: string | undefined;
  readonly shown?: string;
}

function build(read: (option: Option) => Given): Config {
  const values = Object.fromEntries(
    (Object.keys(settingTable) as Option[]).map((option) => {
      const row: SettingRow<unknown> = settingTable[option];
      const { name, given, shown } = read(option);
      const source = given ?? row.fallback;
      if (source === undefined) return [option, undefined];
      const value = row.kind.parse(source);
      if (value === undefined) throw notUnderstood(name, row, shown ?? quoted(source));
      return [option, value];
    }),
  ) as Values;
  if ((values.adminEmail === undefined) !== (values.adminPassword === undefined)) {
    const names = [read("adminEmail").name, read("adminPassword").name];
    throw new ConfigError(`${names.join(" and ")}: give both, or neither`);
  }
  for (const option of NEED_CHECKPOINTS) {
    if (values[option] === undefined || values.checkpointSeconds > 0) continue;
    const [target, seconds] = [read(option).name, read("checkpointSeconds").name];
    throw new ConfigError(`${target}: needs ${seconds} above 0, or no checkpoint is made`);
  }
  const requireAuth = read("requireAuth").given === undefined ? values.demo : values.requireAuth;
  return { ...values, requireAuth: () => requireAuth, named: (message) => message };
}

function notUnderstood(name: string, row: SettingRow<unknown>, shown: string): ConfigError {
  const value = row.isSecret ? "the value given" : shown;
  return new ConfigError(`${name}: ${value} is not understood, expected ${row.kind.accepts}`);
}

/** An embedder's value of the wrong type. A number in quotes would otherwise look like a number. */
function withType(value: unknown): string {
  if (typeof value === "string") return `the string ${quoted(value)}`;
  if (typeof value === "number") return `the number ${value}`;
  return `a value of type ${Object.prototype.toString.call(value).slice("[object ".length, -1)}`;
}
