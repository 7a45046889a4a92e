/**
 * Collects the reasons why a shell text may run more than the commands that were found in it. With such a doubt no allow
 * rule applies to the text.
 *
 * Bash evaluates a variable in arithmetic once more: with `x='a[$(cmd)]'`, `$((x))` runs `cmd`. So such a variable must
 * get a number in the same text, and nothing else.
 *
 * `declare` evaluates the value that it gives to an array once more, if it is in parentheses: `declare -a x='($(cmd))'`
 * runs `cmd`. So it must not give an array what the text does not show.
 */
import { isHarmlessName } from "./harmless-variables.ts";
import { assignmentIn, type Word } from "./shell-command.ts";

/** The values that are numbers: digits, arithmetic, and the special parameters that count. */
const NUMBER = /^-?\d+$|^"?\$[#?!$]"?$|^"?\$\(\([^()]*\)\)"?$/;
/** Bash's own variables whose values it evaluates as arithmetic. */
const INTEGERS = new Set(["RANDOM", "SRANDOM", "OPTIND", "HISTCMD"]);
const SUBSCRIPT = /^\w+\[(?!\d+\])/;
/** Bash's own variables that are arrays. */
const ARRAYS =
  /^(?:BASH_\w+|COMP_\w+|COMPREPLY|COPROC|DIRSTACK|FUNCNAME|GROUPS|MAPFILE|PIPESTATUS)$/;

/** The doubts about one command text, with everything nested in it. */
export class ShellDoubts {
  #isRaised = false;
  readonly #numbers = new Set(["RANDOM", "SECONDS", "EPOCHSECONDS"]);
  readonly #texts = new Set<string>();
  readonly #evaluated = new Set<string>();
  readonly #arrays = new Set<string>();
  /** The variables to which a declaration gives a value that the text does not show. */
  readonly #declared = new Set<string>();

  /** Records that the text may run more than what was found. */
  raise(): void {
    this.#isRaised = true;
  }

  /** Records an assignment. */
  assign({ raw: written, value }: Word): void {
    const raw = assignmentIn(written) === undefined ? value : written; // `env 'x=1'` has quotes
    const target = assignmentIn(raw) ?? raw;
    if (target.includes("[") && SUBSCRIPT.test(target)) this.raise(); // Bash evaluates the subscript
    const name = nameOf(target);
    if (target.includes("[") || raw[target.length] === "(") this.#arrays.add(name);
    if (NUMBER.test(raw.slice(target.length))) this.#numbers.add(name);
    else if (INTEGERS.has(name)) this.raise();
    else this.#texts.add(name);
  }

  /**
   * Records that something other than an assignment sets a variable, such as a loop. No pattern of a rule can write
   * that, so only harmless variables may be set so.
   */
  set(name: string, isNumber: boolean): void {
    if (!isHarmlessName(name, false)) this.raise();
    else if (isNumber) this.#numbers.add(name);
    else this.#texts.add(name);
  }

  /** Records an assignment that is an argument of `declare` and the like. */
  declare(word: Word, isArray: boolean): void {
    this.assign(word);
    const { raw, value, bare } = word;
    const { length } = assignmentIn(raw) ?? raw;
    const isList = raw[length] === "(";
    if (isArray) this.#arrays.add(nameOf(raw));
    if (isList) return;
    if (value[length] === "(") this.raise();
    if (bare !== undefined) this.#declared.add(nameOf(raw));
  }

  /** Records that something other than an assignment makes an array. */
  setArray(name: string): void {
    this.set(name, false);
    this.#arrays.add(name);
  }

  /** Records that arithmetic evaluates a variable. */
  evaluate(name: string): void {
    this.#evaluated.add(name);
  }

  /** Whether there is a doubt. */
  get any(): boolean {
    if (this.#isRaised) return true;
    for (const name of this.#evaluated) {
      if (!this.#numbers.has(name) || this.#texts.has(name)) return true;
    }
    for (const name of this.#declared) if (this.#arrays.has(name) || ARRAYS.test(name)) return true;
    return false;
  }
}

function nameOf(target: string): string {
  return /^\w*/.exec(target)?.[0] ?? "";
}
