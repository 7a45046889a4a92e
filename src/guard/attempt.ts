/** One use of a tool by an agent, or one command: what the guard decides and reports. */
export interface Attempt {
  /** `before`: about to run, to be decided. `after`: has run, only reported. */
  readonly kind: "before" | "after";
  /** The agent, or `exec`. */
  readonly transport: string;
  readonly consumer: "human" | "ai" | "ci";
  /** The text of a command; absent for tools that do not run commands. */
  readonly command?: string | undefined;
  /** The texts that the tool may run in place of `command`. */
  readonly instead?: readonly string[] | undefined;
  readonly argv?: readonly string[] | undefined;
  readonly provider?: string | undefined;
  readonly capability?: string | undefined;
  readonly resource?: string | undefined;
  /** The resources that the tool may act on in place of `resource`. */
  readonly otherResources?: readonly string[] | undefined;
  /** The user, if the agent names one; otherwise the operating system's user counts. */
  readonly executor?: string | undefined;
  readonly session?: string | undefined;
  /** The id of this use of the tool within its session. */
  readonly call?: string | undefined;
  /** The agent and its version. */
  readonly context: string;
  readonly durationMs?: number | undefined;
  readonly succeeded?: boolean | undefined;
}
