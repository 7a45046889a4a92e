/** One use of a tool by an agent, or one command: what the guard decides and reports. */
export interface Attempt {
  /** Whether it is about to run and is decided, or has run and is only reported. */
  readonly kind: "before" | "after";
  /** The agent, or `exec`. */
  readonly transport: string;
  readonly consumer: "human" | "ai" | "ci";
  /** The text of a command; absent for tools that run none. */
  readonly command?: string | undefined;
  readonly argv?: readonly string[] | undefined;
  readonly provider?: string | undefined;
  readonly capability?: string | undefined;
  readonly resource?: string | undefined;
  /** The person, where the agent knows it better than the operating system. */
  readonly executor?: string | undefined;
  readonly session?: string | undefined;
  /** Names this use of the tool within its session. */
  readonly call?: string | undefined;
  /** The agent and its version. */
  readonly context: string;
  readonly durationMs?: number | undefined;
  readonly succeeded?: boolean | undefined;
}
