import assert from "node:assert/strict";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { openApp, type App as Running } from "../../src/app.ts";
import { createPasswords, type Passwords } from "../../src/auth/password.ts";
import { configFromOptions } from "../../src/config.ts";
import type { OpenEngine } from "../../src/engine.ts";
import type { SignalboxOptions } from "../../src/index.ts";
import { Client, type Answer, type SentBody, type SentHeaders } from "./client.ts";
import { type Contract, contractOf } from "./contract.ts";
import { EventStream } from "./event-stream.ts";

export type Settings = Partial<Omit<SignalboxOptions, "dataDir" | "now">>;

/** Anything with an end: a test, or a whole file of tests (`{ after }` of `node:test`). */
export interface Scope {
  after(end: () => Promise<void>): void;
}

/** The time at which the clock of every test starts. */
export const START_TIME = "2026-11-20T20:30:00.000Z";

/** The user of tests that need one: `start(t, { ...ADMIN_SETTINGS })`, `app.asUser(ADMIN)`. */
export const ADMIN = { email: "admin@example.com", password: "correct horse battery" } as const;
export const ADMIN_SETTINGS = { adminEmail: ADMIN.email, adminPassword: ADMIN.password } as const;

/** Scrypt's N; the service's own value would take a third of the time of all tests. */
const QUICK_COST = 2 ** 8;

/**
 * The service and its clients run in one thread here. On a loaded machine it can work for more than ten seconds
 * between the arrival of a connection and the reading of its request, such as on the contract. The server would
 * then refuse a request that was sent in time.
 */
const NO_TIMEOUTS = { headersTimeout: 0, requestTimeout: 0 };

/** An engine that tests use in place of the files. */
export type TestEngine = OpenEngine & {
  /** Runs statements on the engine's database. */
  sql?(text: string): Promise<string>;
  /** The URL of that database. */
  url?(): Promise<string>;
  /** Takes the stored data away from the engine, or a copy of it, and opens it as another one. */
  move?(how: "copy" | "rename"): Promise<TestEngine>;
};

let makeEngine: (() => TestEngine) | undefined;

/** Makes every service that starts from now on use another engine than the files. */
export function useEngine(make: () => TestEngine): void {
  makeEngine = make;
}

/**
 * Starts the service on a free port over a new directory; both are removed when the test ends. Its
 * clock stands still except for `advance`, passwords are hashed in no time unless others are given,
 * and every response is checked against the served contract.
 */
export async function start(
  t: Scope,
  settings: Settings = {},
  passwords?: Passwords,
  openEngine = makeEngine?.(),
): Promise<App> {
  const dataDir = await mkdtemp(join(tmpdir(), "signalbox-test-"));
  const app = new App(dataDir, settings, passwords, openEngine);
  t.after(async () => {
    await app.close();
    await rm(dataDir, { recursive: true, force: true });
  });
  await app.open();
  return app;
}

/**
 * The contracts of services, by their settings. Apart from the address, the document that a service makes depends
 * on nothing else, and making and reading it takes longer than most tests.
 */
const contracts = new Map<string, Contract>();

/** A running service and a client for it. */
export class App {
  readonly dataDir: string;
  #settings: Settings;
  readonly #passwords: Passwords;
  /** One for the whole life of the app, so that a restart finds the stored data. */
  readonly #openEngine: TestEngine | undefined;
  #now = Date.parse(START_TIME);
  #running: Running | undefined;
  #contract: Contract | undefined;
  readonly #client = new Client();
  readonly #streams: EventStream[] = [];

  constructor(
    dataDir: string,
    settings: Settings,
    passwords?: Passwords,
    openEngine = makeEngine?.(),
  ) {
    this.dataDir = dataDir;
    this.#openEngine = openEngine;
    this.#settings = settings;
    const now = (): number => this.#now;
    this.#passwords = passwords ?? createPasswords({ now, cost: QUICK_COST });
  }

  /** The present URL; the port changes at a restart. */
  get url(): string {
    assert.ok(this.#running, "The service is not running");
    return this.#running.url;
  }

  /** The time of the service, in milliseconds. */
  get now(): number {
    return this.#now;
  }

  /** The option and the value by which commands find what is stored. */
  async place(): Promise<readonly [option: "--data" | "--database", value: string]> {
    const url = await this.#openEngine?.url?.();
    return url === undefined ? ["--data", this.dataDir] : ["--database", url];
  }

  /** Changes what is stored: a file below the directory, or, over a database, by statements. */
  async tamper(file: string, change: (bytes: Buffer) => Buffer, sql: string): Promise<void> {
    if (this.#openEngine?.sql) await this.#openEngine.sql(sql);
    else {
      const path = join(this.dataDir, file);
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, change(await readFile(path).catch(() => Buffer.alloc(0))));
    }
  }

  /** Takes the stored data away, or a copy of it, and gives an engine over it; `undefined` over files. */
  async moveEngine(how: "copy" | "rename"): Promise<TestEngine | undefined> {
    return this.#openEngine?.move?.(how);
  }

  /** Moves the service's clock forward. */
  advance(ms: number): void {
    this.#now += ms;
  }

  async open(): Promise<void> {
    const { dataDir } = this;
    const { writeLog, ...settings } = this.#settings;
    const config = configFromOptions({ ...settings, dataDir });
    const passwords = this.#passwords;
    this.#running = await openApp(config, () => this.#now, writeLog, {
      passwords,
      limits: NO_TIMEOUTS,
      ...(this.#openEngine && { openEngine: this.#openEngine }),
    });
    this.#contract = undefined;
  }

  /** Stops the service; does nothing if it is closed already. */
  async close(): Promise<void> {
    const running = this.#running;
    this.#running = undefined;
    this.#client.close();
    await running?.close(); // this ends the streams
    for (const stream of this.#streams.splice(0)) stream.close();
  }

  /** Stops the service and starts it over the same directory, with other settings if given. */
  async restart(changes: Settings = {}): Promise<void> {
    await this.close();
    this.#settings = { ...this.#settings, ...changes };
    await this.open();
  }

  get(path: string, headers?: SentHeaders): Promise<Answer> {
    return this.request("GET", path, undefined, headers);
  }

  post(path: string, body?: SentBody, headers?: SentHeaders): Promise<Answer> {
    return this.request("POST", path, body, headers);
  }

  put(path: string, body?: SentBody, headers?: SentHeaders): Promise<Answer> {
    return this.request("PUT", path, body, headers);
  }

  patch(path: string, body?: SentBody, headers?: SentHeaders): Promise<Answer> {
    return this.request("PATCH", path, body, headers);
  }

  delete(path: string, headers?: SentHeaders): Promise<Answer> {
    return this.request("DELETE", path, undefined, headers);
  }

  /** Sends a request, and fails if the response violates the contract. */
  async request(
    method: string,
    path: string,
    body?: SentBody,
    headers?: SentHeaders,
  ): Promise<Answer> {
    const answer = await this.#client.request(this.url, method, path, body, headers);
    this.#contract ??= await this.#readContract();
    this.#contract.check(method, path, answer);
    return answer;
  }

  async #readContract(): Promise<Contract> {
    const key = JSON.stringify(this.#settings);
    const known = contracts.get(key);
    if (known) return known;
    const { body } = await this.#client.request(this.url, "GET", "/openapi.json");
    const contract = contractOf(body);
    contracts.set(key, contract);
    return contract;
  }

  /** Opens a stream of events, which is closed with the service at the latest. */
  async stream(path: string, headers?: SentHeaders): Promise<EventStream> {
    const stream = await EventStream.open(this.url, path, headers);
    this.#streams.push(stream);
    return stream;
  }

  /** Signs a user in and returns the headers to act as that user. */
  async asUser(credentials: {
    readonly email: string;
    readonly password: string;
  }): Promise<SentHeaders> {
    const { email, password } = credentials;
    const answer = await this.post("/api/v1/auth/login", { email, password });
    assert.equal(answer.status, 200, answer.text);
    return { authorization: `Bearer ${answer.body.token}` };
  }

  /** Creates an organization with its first admin, and returns its id and that admin's headers. */
  async createOrganization(
    name: string,
    headers?: SentHeaders,
  ): Promise<{ readonly id: string; readonly admin: SentHeaders }> {
    const email = `admin@${name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-")}.example.com`;
    const { password } = ADMIN;
    const answer = await this.post(
      "/api/v1/organizations",
      { name, admin_email: email, admin_password: password },
      headers,
    );
    assert.equal(answer.status, 201, answer.text);
    return { id: answer.body.id, admin: await this.asUser({ email, password }) };
  }

  /** Creates a user, by default an operator with the password of `ADMIN`, and returns the resource. */
  async createUser(
    user: {
      readonly email: string;
      readonly name?: string;
      readonly role?: string;
      readonly password?: string;
    },
    headers?: SentHeaders,
  ): Promise<Answer["body"]> {
    const body = { name: user.email, role: "operator", password: ADMIN.password, ...user };
    const answer = await this.post("/api/v1/users", body, headers);
    assert.equal(answer.status, 201, answer.text);
    return answer.body;
  }

  /** Creates an API key, and returns its id and the headers to act with it. */
  async createKey(
    name: string,
    headers?: SentHeaders,
  ): Promise<{ readonly id: string; readonly key: SentHeaders }> {
    const answer = await this.post("/api/v1/api-keys", { name }, headers);
    assert.equal(answer.status, 201, answer.text);
    return { id: answer.body.id, key: { "x-api-key": answer.body.api_key } };
  }
}
