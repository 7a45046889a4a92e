import type { ServerResponse } from "node:http";
import type { Awaitable } from "../core/caller.ts";
import { Refusal } from "../core/errors.ts";

/** Why a question was given up. Nobody is there to read it; the record of requests has it. */
export class ClientGone extends Refusal {
  readonly status = 499;
}

/** Whoever waits for an answer, for handlers that work long. */
export abstract class Client {
  readonly response: ServerResponse;
  #gone: AbortController | undefined;

  constructor(response: ServerResponse) {
    this.response = response;
  }

  /** Fires when the client leaves. Made when it is first asked for: most answers come at once. */
  get gone(): AbortSignal {
    if (!this.#gone) {
      const gone = (this.#gone = new AbortController());
      const leave = (): void => {
        if (this.response.writableFinished) return; // it has its answer
        gone.abort(new ClientGone("The client left before it was answered"));
      };
      if (this.response.destroyed) leave();
      else this.response.once("close", leave);
    }
    return this.#gone.signal;
  }

  /** Whether the credentials of the request would be accepted now as well, for the same organization. */
  abstract isStillAccepted(): Awaitable<boolean>;
}
