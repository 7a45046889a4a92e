/**
 * A failure that the caller may know about: its `message` is sent as `{ "error": message }` with
 * its `status`; its `cause` is only logged. Any other error is a defect and is answered with a 500.
 */
export abstract class Refusal extends Error {
  abstract readonly status: number;

  /** Headers that belong to this refusal, as a flat list of names and values. */
  headers(): readonly string[] {
    return [];
  }

  /** A further member of the body: its name, and its value as JSON. */
  detail(): readonly [name: string, json: Uint8Array] | undefined {
    return undefined;
  }
}

/** The request is invalid; the message names the place and says what was expected. */
export class BadInput extends Refusal {
  readonly status = 400;
}

/** Credentials are missing or, with `tokenRefused`, were not accepted. RFC 6750 §3. */
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

/** The caller is known, but lacks the permission. */
export class Forbidden extends Refusal {
  readonly status = 403;
}

/** There is no such path, or no such record in the caller's organization. */
export class NotFound extends Refusal {
  readonly status = 404;
}

/** The path exists, but not for this method; `allow` lists the methods it has. */
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

/** The state of the record does not allow the change. */
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

/** The request has too many headers. RFC 6585 §5. */
export class TooManyHeaders extends Refusal {
  readonly status = 431;
}

/** The body is not `application/json`, or has an unsupported encoding. */
export class UnsupportedMediaType extends Refusal {
  readonly status = 415;
}

/** The change was made or not, as the message says, but it could not be recorded. */
export class Unrecorded extends Refusal {
  readonly status = 500;
}

/** A refusal that may pass; `retryAfterSeconds` says when to try again. */
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

/** The public form of a defect: it reveals no details. */
class InternalError extends Refusal {
  readonly status = 500;

  constructor() {
    super("The service failed to answer this request");
  }
}

const DISK_FULL = new Set(["ENOSPC", "EDQUOT"]);
const DISK_FULL_RETRY_SECONDS = 10;

/** The public form of an error: a refusal itself, a full disk by name, and any other error without details. */
export function refusalOf(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  if (!(error instanceof Error) || !("code" in error)) return new InternalError();
  if (!DISK_FULL.has(String(error.code))) return new InternalError();
  const message =
    "The disk of this service is full, so nothing was stored: try again when it has room";
  return new InsufficientStorage(message, DISK_FULL_RETRY_SECONDS);
}
