/** The rules of a document of the schema `signalbox/policy/v1`, and the commands that they decide. */
import type { GlobField } from "./glob-fields.ts";
import type { Effect, Mode } from "./schema.ts";

/** One way to match a command: as a whole, by its first words, or with `*` for any characters. */
export type CommandPattern =
  | { readonly exact: string }
  | { readonly prefix: string }
  | { readonly glob: string };

/** The condition of a rule: every given field must match, by any of its entries. */
export type RuleMatch = {
  readonly commands?: readonly CommandPattern[];
} & { readonly [F in GlobField]?: readonly string[] };

export interface Rule {
  readonly id: string;
  readonly effect: Effect;
  readonly description?: string;
  readonly reason?: string;
  readonly enabled: boolean;
  readonly match: RuleMatch;
  /** Commands that a denying rule does not apply to, although `match` matches them. */
  readonly except?: readonly RuleMatch[];
}

/** A command to decide; an absent field does not match a rule that requires it. */
export interface Command {
  /** If absent, an agent uses a tool that runs no command. */
  readonly command?: string | undefined;
  /** The words of the command, if it is run without a shell; then the text is not split. */
  readonly argv?: readonly string[] | undefined;
  /** If absent, the first word of the command, as for audit events. */
  readonly provider?: string | undefined;
  readonly capability?: string | undefined;
  readonly consumer?: string | undefined;
  readonly executor?: string | undefined;
  readonly resource?: string | undefined;
}

/** A document's own test: the expected decision on a command, and optionally the expected rule. */
export interface PolicyTest extends Command {
  readonly expect: Effect;
  readonly rule?: string;
}

/** A document of our schema, checked. */
export interface PolicyDocument {
  readonly name?: string;
  readonly description?: string;
  readonly default: Effect;
  /** `enforce` if absent. */
  readonly mode?: Mode;
  readonly rules: readonly Rule[];
  readonly tests: readonly PolicyTest[];
}
