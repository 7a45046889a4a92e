/** The kinds of settings: the texts that each kind accepts, and how it reads their values. */
import { isIPv6 } from "node:net";
import { hostNameOf } from "./host-name.ts";
import { oneOf } from "./validate.ts";

/** Reads values of one kind from text; `undefined` from `parse` means that the text is invalid. */
export interface Kind<T> {
  readonly accepts: string;
  readonly parse: (text: string) => T | undefined;
  /** Turns an embedder's value into the text that `parse` reads. */
  readonly textOf: (value: unknown) => string | undefined;
}

/** Text that is not blank, unchanged. */
export function anyText(maximum = Infinity): Kind<string> {
  const bound = maximum === Infinity ? "" : ` of at most ${maximum} characters`;
  return {
    accepts: `text${bound} that is not blank`,
    textOf: stringOf,
    parse: (given) => (isBlank(given) || given.length > maximum ? undefined : given),
  };
}

function isBlank(given: string): boolean {
  return given.trim() === "";
}

function stringOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function numberText(value: unknown): string | undefined {
  return typeof value === "number" ? String(value) : undefined;
}

/** A whole number in a range, both ends included. */
export function integer(minimum: number, maximum: number): Kind<number> {
  return {
    accepts: `a whole number from ${minimum} to ${maximum}`,
    textOf: numberText,
    parse(given) {
      const value = /^\d{1,15}$/.test(given) ? Number(given) : Number.NaN;
      return value >= minimum && value <= maximum ? value : undefined;
    },
  };
}

/** A duration in hours, with up to six decimals. */
export function hours(): Kind<number> {
  const longest = 24 * 366;
  return {
    accepts: `a number of hours from 0.000001 to ${longest}, with at most 6 decimals`,
    textOf: numberText,
    parse(given) {
      const value = /^\d{1,6}(?:\.\d{1,6})?$/.test(given) ? Number(given) : Number.NaN;
      return value > 0 && value <= longest ? value : undefined;
    },
  };
}

/** `true` or `false`. */
export function boolean(): Kind<boolean> {
  return {
    accepts: "true or false",
    textOf: (value) => (typeof value === "boolean" ? String(value) : undefined),
    parse: (given) => (given === "true" ? true : given === "false" ? false : undefined),
  };
}

/** One of a few words. */
export function choice<const Choices extends readonly string[]>(
  choices: Choices,
): Kind<Choices[number]> {
  return {
    accepts: oneOf(choices),
    textOf: stringOf,
    parse: (given) => choices.find((word) => word === given),
  };
}

/** Words that look like a switch. They are not accepted as tokens, since they are easy to guess. */
const SWITCH = /^(?:on|off|open|closed?|true|false|yes|no|enabled?|disabled?|none|0|1)$/i;

/** One of a few words, or a token that a header can contain. Words that look like a switch are refused. */
export function wordOrToken(...words: readonly string[]): Kind<string> {
  return {
    accepts: `${words.join(", ")}, or a token of ASCII characters without spaces, other than a word such as on or true`,
    textOf: stringOf,
    parse(given) {
      if (words.includes(given)) return given;
      return /^[!-~]+$/.test(given) && !SWITCH.test(given) ? given : undefined;
    },
  };
}

/** Comma-separated origins, or `*`. */
export function origins(): Kind<readonly string[]> {
  return {
    accepts: "comma-separated origins such as https://app.example.com, or *",
    textOf: (value) => (Array.isArray(value) ? value.join(",") : stringOf(value)),
    parse(given) {
      const list = given.split(",").map((origin) => origin.trim());
      const wanted = list.filter((origin) => origin !== "");
      if (wanted.length === 0 && given !== "") return undefined;
      return wanted.every((origin) => origin === "*" || isOrigin(origin)) ? wanted : undefined;
    },
  };
}

/** Comma-separated host names or IP addresses, without ports. */
export function hosts(): Kind<readonly string[]> {
  return {
    accepts: "comma-separated host names without port, such as signalbox.example.com",
    textOf: (value) => (Array.isArray(value) ? value.join(",") : stringOf(value)),
    parse(given) {
      const list = given.split(",").map((host) => host.trim());
      const names = list.filter((host) => host !== "").map(bareHostName);
      if (names.length === 0 && given !== "") return undefined;
      return names.every((name) => name !== undefined) ? names : undefined;
    },
  };
}

function bareHostName(given: string): string | undefined {
  const name = hostNameOf(isIPv6(given) ? `[${given}]` : given);
  if (name === undefined || /[^\da-z._:-]/.test(name)) return undefined; // a `*` would match nothing
  return /:\d+$/.test(given) && !isIPv6(given) ? undefined : name;
}

function isOrigin(given: string): boolean {
  // The URL standard allows `*` in a host; it would look like a pattern and match nothing.
  return URL.canParse(given) && new URL(given).origin === given && !given.includes("*");
}

/** An http or https URL, without its final slashes. */
export function httpUrl(): Kind<string> {
  return {
    accepts: "an http or https URL without user, query or fragment",
    textOf: stringOf,
    parse(given) {
      const url = URL.canParse(given) ? new URL(given) : undefined;
      if (!url || !/^https?:$/.test(url.protocol)) return undefined;
      if (url.username || url.password || url.search || url.hash) return undefined;
      return url.href.replace(/\/+$/, "");
    },
  };
}

/** An http or https URL that a request is sent to. It may contain a user, a password and a query. */
export function requestUrl(): Kind<string> {
  return {
    accepts:
      "an http or https URL without fragment, such as https://witness.example.com/checkpoints",
    textOf: stringOf,
    parse(given) {
      const url = URL.canParse(given) ? new URL(given) : undefined;
      if (!url || !/^https?:$/.test(url.protocol) || url.hash !== "") return undefined;
      try {
        decodeURIComponent(url.username + url.password); // Node decodes them for each request
      } catch {
        return undefined;
      }
      return given;
    },
  };
}

/** The URL of a PostgreSQL database. It may hold a password. */
export function postgresUrl(): Kind<string> {
  return {
    accepts: "a URL such as postgres://user:password@host:5432/database",
    textOf: stringOf,
    parse(given) {
      const url = URL.canParse(given) ? new URL(given) : undefined;
      return url && /^postgres(?:ql)?:$/.test(url.protocol) ? given : undefined;
    },
  };
}

/** `embed`, the path of a file, or an http or https URL. Texts that begin like other URLs are refused. */
export function catalogSource(): Kind<string> {
  return {
    accepts: "embed, the path of a file, or an http or https URL",
    textOf: stringOf,
    parse(given) {
      if (isBlank(given)) return undefined;
      if (!/^[a-z][a-z\d+.-]*:\/\//i.test(given)) return given;
      return /^https?:/i.test(given) && URL.canParse(given) ? given : undefined;
    },
  };
}

const MAX_QUOTED = 200;

/** The scheme and the slashes at the start of a URL, in quotes. */
const URL_START = /^"?(?:[a-z][a-z\d+.-]*:(?=[/\\]))?[/\\]*/i;

/** Quotes an invalid text in a message: shortened, and without the user-info and the query of a URL, which may be secret. */
export function quoted(given: string): string {
  let shown = JSON.stringify(given);
  // Up to the last `@`: in an invalid URL a slash, a space, a comma or a quote may be part of the password.
  const at = shown.lastIndexOf("@");
  if (/[:/\\]/.test(shown.slice(0, Math.max(at, 0)))) {
    shown = `${URL_START.exec(shown)?.[0] ?? ""}…${shown.slice(at)}`;
  }
  shown = shown.replace(/\?[^]*(?=")/, "?…");
  return shown.length > MAX_QUOTED ? `${shown.slice(0, MAX_QUOTED)}…"` : shown;
}
