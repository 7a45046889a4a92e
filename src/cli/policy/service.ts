import { isObject } from "../../core/validate.ts";
import { Service, type ServiceAnswer } from "../../guard/service.ts";
import { InputError, UsageError, type Terminal } from "../command.ts";

const USUAL_URL = "http://127.0.0.1:8080";
/** The longest wait for an answer to a POST: a replay of millions of events takes its time. */
const REPLAY_SECONDS = 300;
const PREFIX = /\/api\/(?:v1|public)$/;

/** A service, and the answers that a command expects of it. */
export interface PolicyService {
  /** @throws InputError if the service cannot be reached or fails; Error if it refuses */
  get(path: string): Promise<ServiceAnswer>;
  /** @throws InputError if the service cannot be reached or fails; Error if it refuses */
  post(path: string, body: unknown): Promise<ServiceAnswer>;
}

/**
 * The service of a command: its address from the option or `SIGNALBOX_URL`, its key or token from the
 * environment, since other users of a machine can read the arguments of a process.
 *
 * @param scope the key scope that the command needs
 * @throws UsageError if the address is invalid, or contains a password
 */
export function serviceOf(
  option: string | undefined,
  { env }: Terminal,
  scope = "policy",
): PolicyService {
  const [name, given] =
    option === undefined ? ["SIGNALBOX_URL", env.SIGNALBOX_URL || USUAL_URL] : ["--url", option];
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new UsageError(`${name}: expected a URL such as https://signalbox.example.com`);
  }
  if (url.username !== "" || url.password !== "") {
    throw new UsageError(`${name}: contains a password: give a key in SIGNALBOX_API_KEY instead`);
  }
  const base = (url.origin + url.pathname).replace(/\/+$/, "");
  const access = {
    api: PREFIX.test(base) ? base : `${base}/api/v1`,
    apiKey: env.SIGNALBOX_API_KEY?.trim() || undefined, // files and secrets may end with a line end
    token: env.SIGNALBOX_TOKEN?.trim() || undefined,
    addressIn: name,
  };
  const service = new Service(access);
  const patient = new Service({ ...access, timeoutSeconds: REPLAY_SECONDS });
  return {
    get: async (path) => accepted(await reached(service.get(path)), scope),
    post: async (path, body) => accepted(await reached(patient.post(path, body)), scope),
  };
}

/** The kinds of values that a command can expect of a property. */
type Kind = "string" | "number" | "object" | "array";

/**
 * The JSON of an answer.
 *
 * @param needed the properties that the command reads, and their kinds
 * @throws InputError without one of them: another program has answered
 */
export function jsonOf<T>(
  { text }: ServiceAnswer,
  needed: { readonly [Name in keyof T]?: Kind },
): T {
  const value = parsed(text);
  const kinds = Object.entries<Kind | undefined>(needed);
  if (isObject(value) && kinds.every(([name, kind]) => kindOf(value[name]) === kind)) {
    return value as T;
  }
  throw new InputError(
    `The server's answer is not one of Signalbox: ${beginningOf(text)}: correct --url or SIGNALBOX_URL`,
  );
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

async function reached(answer: Promise<ServiceAnswer>): Promise<ServiceAnswer> {
  try {
    return await answer;
  } catch (error) {
    throw new InputError((error as Error).message, { cause: error });
  }
}

/** The answer, unless it is an error. A 404 and a 409 are for the command, which knows what they mean. */
function accepted(answer: ServiceAnswer, scope: string): ServiceAnswer {
  const { status, text } = answer;
  if ((status >= 200 && status < 300) || status === 404 || status === 409) return answer;
  if (status === 401) {
    throw new Error(
      `${errorOf(text)}: set SIGNALBOX_API_KEY to a key of the scope ${scope}, or SIGNALBOX_TOKEN`,
    );
  }
  if (status >= 400 && status < 500) throw new Error(errorOf(text));
  throw new InputError(`The server answered ${status}: ${errorOf(text)}`);
}

/**
 * The answer of a request that should have succeeded.
 *
 * @throws Error with the server's reason if it did not
 */
export function succeeded(answer: ServiceAnswer): ServiceAnswer {
  if (answer.status >= 300) throw new Error(errorOf(answer.text));
  return answer;
}

/** The `error` of an answer; the beginning of another text, as a proxy may send it. */
export function errorOf(text: string): string {
  const value = parsed(text);
  if (isObject(value) && typeof value["error"] === "string") return value["error"];
  return beginningOf(text) || "no reason given";
}

/** `undefined` for a text that is not JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function beginningOf(text: string): string {
  return text.slice(0, 200).trim();
}
