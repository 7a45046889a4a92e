/** The commands that events report, as documents decide them. */
import type { Command } from "./rules.ts";

/** Guards report their version after this word, in heartbeats and events. */
export const GUARD_VERSION = "guard ";

/** The facts of an event that a document decides by, and the version of the runtime that reported them. */
export interface ReportedCommand extends Omit<Command, "argv"> {
  readonly runtime_version?: string | undefined;
}

/**
 * Whether an event has every fact that the runtime knew. A guard reports all that it decides by, so what is absent did
 * not exist. Without a command and a capability it could not read what was about to run.
 */
export function isComplete({ command, capability, runtime_version }: ReportedCommand): boolean {
  if (runtime_version?.startsWith(GUARD_VERSION) !== true) return false;
  return command !== undefined || capability !== undefined;
}

/** Whether an event is about a tool that runs no command. */
export function isToolUse(event: ReportedCommand): boolean {
  return event.command === undefined && isComplete(event);
}

/** The command of an event. If it is absent there, although it may have existed, it is an empty text. */
export function commandOf(event: ReportedCommand): Command {
  const { command, provider, capability, consumer, executor, resource } = event;
  const text = isToolUse(event) ? undefined : (command ?? "");
  return { command: text, provider, capability, consumer, executor, resource };
}
