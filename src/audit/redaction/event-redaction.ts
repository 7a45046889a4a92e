import type { Awaitable } from "../../core/caller.ts";
import { SECOND_MS, type Clock } from "../../core/clock.ts";
import { setNewest } from "../../core/set-newest.ts";
import { ownRules, type OwnSetting } from "./own-rules.ts";
import { commonRedactor, Redactor } from "./redact.ts";
import { REDACTION_RULES } from "./rules.ts";
import type { Redaction } from "./spans.ts";

/** Receives how often a rule replaced a secret in one text. */
export type CountRedaction = (redaction: Redaction) => void;

/** The longest time before a change of the settings on another server takes effect here. */
const FRESH_MS = 5 * SECOND_MS;
/** The most organizations with rules of their own whose rules are kept, which may be long. */
const MOST_WITH_RULES = 1_000;
/** The most other organizations that are kept: as many as there are by default. */
const MOST_WITHOUT = 10_000;

/** The rules of an organization, as its settings were when they were read. */
interface Known {
  /** `undefined` until the settings were read. */
  redactor: Redactor | undefined;
  /** The organization's own rules as one text. */
  own: string;
  readAt: number;
  reading: Promise<Redactor> | undefined;
}

/**
 * Redacts the events that a service accepts: keeps the rules of each organization, and counts replacements. Organizations
 * without rules of their own are kept apart. When 1,000 were kept in all, each event of 2,000 organizations read the settings
 * again: over PostgreSQL that took most of the connections' time, and other requests waited for more than a second.
 */
export class EventRedaction {
  readonly #isOn: boolean;
  readonly #settingsOf: (organization: string) => Awaitable<readonly OwnSetting[]>;
  readonly #now: Clock;
  readonly #withRules = new Map<string, Known>();
  readonly #without = new Map<string, Known>();
  /** How many secrets each rule has replaced. */
  readonly counts = new Map<string, number>();

  constructor(
    isOn: boolean,
    settingsOf: (organization: string) => Awaitable<readonly OwnSetting[]>,
    now: Clock,
  ) {
    this.#isOn = isOn;
    this.#settingsOf = settingsOf;
    this.#now = now;
  }

  readonly count: CountRedaction = ({ rule, count }) => {
    this.counts.set(rule, (this.counts.get(rule) ?? 0) + count);
  };

  /** The redactor for the events of an organization; `undefined` if redaction is off. */
  redactorFor(organization: string): Awaitable<Redactor | undefined> {
    return this.#isOn ? this.trial(organization) : undefined;
  }

  /** The redactor of an organization, even if redaction is off; at once if its settings were read lately. */
  trial(organization: string): Awaitable<Redactor> {
    const known = this.#knownOf(organization);
    if (known?.redactor && Math.abs(this.#now() - known.readAt) < FRESH_MS) return known.redactor;
    if (known) return (known.reading ??= this.#read(organization, known));
    const first: Known = { redactor: undefined, own: "", readAt: 0, reading: undefined };
    setNewest(this.#without, organization, first, MOST_WITHOUT);
    return (first.reading = this.#read(organization, first));
  }

  /** Reads the settings of an organization again before its next event. Called after a change of them is committed. */
  forget(organization: string): void {
    this.#withRules.delete(organization);
    this.#without.delete(organization);
  }

  #knownOf(organization: string): Known | undefined {
    return this.#withRules.get(organization) ?? this.#without.get(organization);
  }

  /** Keeps what was read, unless it was forgotten meanwhile. */
  #keep(organization: string, known: Known): void {
    if (this.#knownOf(organization) !== known) return;
    this.forget(organization);
    const isCommon = known.redactor === commonRedactor;
    const [map, most] = isCommon
      ? [this.#without, MOST_WITHOUT]
      : [this.#withRules, MOST_WITH_RULES];
    setNewest(map, organization, known, most);
  }

  async #read(organization: string, known: Known): Promise<Redactor> {
    const readAt = this.#now();
    try {
      const rules = ownRules(await this.#settingsOf(organization));
      const own = JSON.stringify(rules.map(({ keywords, literal }) => [keywords, literal]));
      if (!known.redactor || own !== known.own) {
        known.redactor =
          rules.length === 0 ? commonRedactor : new Redactor([...rules, ...REDACTION_RULES]);
        known.own = own;
        this.#keep(organization, known);
      }
      known.readAt = readAt;
      return known.redactor;
    } finally {
      known.reading = undefined;
    }
  }
}
