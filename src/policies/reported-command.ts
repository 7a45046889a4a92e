/** The commands that events report, as documents decide them. */
import type { Command } from "./rules.ts";

/** Guards report their version after this word, in heartbeats and events. */
export const GUARD_VERSION = "guard ";

/**
 * The words for a decision that no rule made. The default does not decide a tool that runs no command, and an event
 * without a command may be about one.
 */
export function byNoRule(command: string | undefined): string {
  return command === undefined ? "since no rule applies to it" : "by the default";
}

/** Between the commands, or the resources, of a tool that may take each of them. */
export const SEVERAL = "\n";
/** The most resources of an event that are told apart; a tool has one to three of them. */
const MOST_RESOURCES = 16;
/** Longer resources of an event are not told apart. */
export const LONGEST_RESOURCES = 8_192;

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

/**
 * The event, or one for each resource that its tool may act on, since a guard decides each of them. It denies the tool if
 * one of them is denied.
 */
export function eachResource<Event extends ReportedCommand>(event: Event): readonly Event[] {
  const { resource = "" } = event;
  if (!resource.includes(SEVERAL) || resource.length > LONGEST_RESOURCES) return [event];
  const resources = new Set(resource.split(SEVERAL).filter((one) => one !== ""));
  const areSeveral = resources.size > 0 && resources.size <= MOST_RESOURCES;
  if (!areSeveral || !isComplete(event)) return [event];
  return Array.from(resources, (one) => ({ ...event, resource: one }));
}
