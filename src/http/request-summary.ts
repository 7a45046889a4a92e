/** What is told about each request once it is answered; of a stream, once that has ended. */
export interface RequestSummary {
  readonly method: string;
  /** The row's path with its prefix, or `undefined` where none was found. */
  readonly route: string | undefined;
  /** As it was sent; 499 where the client had left before. */
  readonly status: number;
  readonly requestId: string;
  readonly organization: string | undefined;
  readonly isChange: boolean;
  /** From the request's headers to its answer, of a stream to its end; `undefined` without a stopwatch. */
  readonly durationMs: number | undefined;
  /** The `Content-Length` of the request's body as it was announced. */
  readonly contentLength: string | undefined;
  /** Bytes of the answer's body; of a stream, all that was sent. */
  readonly bytesSent: number;
  /** Why it was refused or failed; a defect's is more than the caller was told. */
  readonly error: unknown;
}
