/**
 * A failure the caller may hear about: its `message` is sent as `{ "error": message }` with its
 * `status`, its `cause` is only logged. Anything else that is thrown is a defect and answers 500.
 */
export abstract class Refusal extends Error {
  abstract readonly status: number;

  /** Headers that belong to this refusal, as a flat list of names and values. */
  headers(): readonly string[] {
    return [];
  }
}

/** The request cannot be understood; the message names the place and what was expected. */
export class BadInput extends Refusal {
  readonly status = 400;
}

/** Credentials are missing, or (with `tokenRefused`) the given ones were not accepted. RFC 6750 §3. */
export class Unauthenticated extends Refusal {
  readonly status = 401;
  readonly tokenRefused: boolean;

  constructor(message: string, options?: ErrorOptions & { readonly tokenRefused?: boolean }) {
    super(message, options);
    this.tokenRefused = options?.tokenRefused ?? false;
  }

  override headers(): readonly string[] {
    const challenge = 'Bearer realm="signalbox"';
    return [
      "WWW-Authenticate",
      this.tokenRefused ? `${challenge}, error="invalid_token"` : challenge,
    ];
  }
}

/** The caller is known, and may not do this. */
export class Forbidden extends Refusal {
  readonly status = 403;
}

/** There is no such path, or no such record in the caller's organization. */
export class NotFound extends Refusal {
  readonly status = 404;
}

/** The path exists, the method does not; `allow` lists those that do. */
export class MethodNotAllowed extends Refusal {
  readonly status = 405;
  readonly allow: string;

  constructor(message: string, allow: string) {
    super(message);
    this.allow = allow;
  }

  override headers(): readonly string[] {
    return ["Allow", this.allow];
  }
}

/** The record is in a state that does not allow the change. */
export class Conflict extends Refusal {
  readonly status = 409;
}

/** The body, or the batch in it, is larger than this deployment accepts. */
export class TooLarge extends Refusal {
  readonly status = 413;
}

/** The request is for a host that this server does not answer to. RFC 9110 §15.5.20. */
export class Misdirected extends Refusal {
  readonly status = 421;
}

/** The body is not `application/json`, or is encoded in a way that is not understood. */
export class UnsupportedMediaType extends Refusal {
  readonly status = 415;
}

/** What the caller asked for has happened or not, as the message says, but no record of it was kept. */
export class Unrecorded extends Refusal {
  readonly status = 500;
}

/** A refusal that may be different in a while; `retryAfterSeconds` says when to come back. */
abstract class RetryLater extends Refusal {
  readonly retryAfterSeconds: number;

  constructor(message: string, retryAfterSeconds: number) {
    super(message);
    this.retryAfterSeconds = retryAfterSeconds;
  }

  override headers(): readonly string[] {
    return ["Retry-After", String(this.retryAfterSeconds)];
  }
}

/** Too many requests of this kind from this caller. */
export class TooMany extends RetryLater {
  readonly status = 429;
}

/** The organization, or the disk, has no room for what was sent. RFC 4918 §11.5. */
export class InsufficientStorage extends RetryLater {
  readonly status = 507;
}

/** The service cannot take this request now. */
export class Unavailable extends RetryLater {
  readonly status = 503;
}

/** What the caller hears of a defect: that there was one. */
export class InternalError extends Refusal {
  readonly status = 500;

  constructor() {
    super("The service failed to answer this request");
  }
}

const DISK_FULL = new Set(["ENOSPC", "EDQUOT"]);
const DISK_FULL_RETRY_SECONDS = 10;

/** What the caller hears of an error: a refusal as it is, a full disk by name, of all else that there was one. */
export function refusalOf(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  if (!(error instanceof Error) || !("code" in error)) return new InternalError();
  if (!DISK_FULL.has(String(error.code))) return new InternalError();
  const message =
    "The disk of this service is full, so nothing was stored: try again when it has room";
  return new InsufficientStorage(message, DISK_FULL_RETRY_SECONDS);
}
