/** The summary of a request, made when its response, or its stream, has ended. */
export interface RequestSummary {
  readonly method: string;
  /** The row's path with its prefix, or `undefined` if no row was found. */
  readonly route: string | undefined;
  /** The status that was sent; 499 if the client had disconnected before. */
  readonly status: number;
  readonly requestId: string;
  readonly organization: string | undefined;
  readonly isChange: boolean;
  /** From the request's headers to the end of its response; `undefined` without a stopwatch. */
  readonly durationMs: number | undefined;
  /** The `Content-Length` of the request. */
  readonly contentLength: string | undefined;
  /** The bytes of the response body that were sent. */
  readonly bytesSent: number;
  /** The reason why the request was refused or failed. For a defect it has more detail than the response. */
  readonly error: unknown;
}
