/** The variables that a text may set without changing which programs a command runs. */
import { assignmentIn, type Word } from "./command.ts";

/** Variables of programs that choose output, places and modes, but no program, code or settings file. */
const KNOWN = new Set([
  ...["TZ", "TERM", "COLORTERM", "COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "CLICOLOR"],
  ...["CLICOLOR_FORCE", "CI", "DEBUG", "VERBOSE", "LOG_LEVEL", "PORT", "HUSKY"],
  ...["NODE_ENV", "RAILS_ENV", "RACK_ENV", "APP_ENV", "CGO_ENABLED", "GOOS", "GOARCH"],
  ...["RUST_BACKTRACE", "CARGO_TERM_COLOR", "CARGO_INCREMENTAL", "DOCKER_BUILDKIT", "JOBS"],
  ...["BUILDKIT_PROGRESS", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE", "PYTHONUTF8"],
  ...["PYTHONHASHSEED", "PYTHONIOENCODING", "AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION"],
  ...["TF_LOG", "TF_IN_AUTOMATION", "TF_INPUT", "TF_WORKSPACE", "GIT_TERMINAL_PROMPT"],
  ...["GIT_OPTIONAL_LOCKS", "GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_AUTHOR_DATE"],
  ...["GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL", "GIT_COMMITTER_DATE", "SOURCE_DATE_EPOCH"],
  ...["NEXT_TELEMETRY_DISABLED", "DO_NOT_TRACK", "HOMEBREW_NO_AUTO_UPDATE"],
  // Names that scripts give to their own values.
  ...["_", "A", "B", "C", "I", "J", "N", "X", "Y", "FOO", "BAR", "BAZ", "BASE", "BRANCH", "COMMIT"],
  ...["SHA", "HASH", "TAG", "VERSION", "NAME", "FILE", "FILES", "DIR", "DEST", "SRC", "OUT"],
  ...["OUTPUT", "RESULT", "RES", "MSG", "MESSAGE", "COUNT", "TOTAL", "URL", "LINE", "STATUS"],
]);
/** Locales in which a byte of a character is never read as a character of the shell. */
const LOCALE = /^(?:LANG|LC_[A-Z]+)=["']?(?:C|POSIX|[\w@-]+\.utf-?8)?["']?$/i;
/** Assignments that switch a pager or an editor off. */
const SWITCHED_OFF = /^(?:(?:[A-Z]+_)?PAGER=(?:cat)?|(?:[A-Z]+_)*EDITOR=(?:true|:))$/;
/** Assignments with values of their own form: `apt` runs the value as Perl, and filters have equals signs. */
const OF_ONE_FORM = /^(?:DEBIAN_FRONTEND=\w+|RUST_LOG=["']?[\w:,=]+["']?)$/;

/** Names of a script's own variables. Few programs read variables in lower case; their names have an underscore. */
const OWN = /^[a-z][a-z0-9]*$/;
const OWN_WITH_UNDERSCORES = /^[a-z][a-z0-9_]*$/;
const READ_BY_PROGRAMS = /^(?:p?npm|yarn|bun|pip)_|_proxy$/;
/** Variables of zsh that stand for `PATH` and the like. */
const SPECIAL_IN_ZSH = new Set([
  ...["path", "cdpath", "fpath", "manpath", "mailpath", "fignore", "prompt", "commands", "aliases"],
  ...["functions", "options", "parameters", "argv", "histchars", "watch"],
]);

/**
 * Whether a variable may be set.
 *
 * @param isExported whether a program gets it in its environment
 */
export function isHarmlessName(name: string, isExported: boolean): boolean {
  if (KNOWN.has(name)) return true;
  if (SPECIAL_IN_ZSH.has(name)) return false;
  return isExported
    ? OWN.test(name)
    : OWN_WITH_UNDERSCORES.test(name) && !READ_BY_PROGRAMS.test(name);
}

/** Values that no program evaluates, as `make` does with `$(…)` and scripts do with `a[$(…)]`, `PATH=1` and `PATH++`. */
const PLAIN_VALUE = /^["']?(?![^]*(?:\+\+|--))[\w .,:/@%+-]*["']?$/;

/** Whether an assignment may be taken off a command. */
export function isHarmlessAssignment({ raw, value, bare }: Word, isExported: boolean): boolean {
  const target = assignmentIn(raw) ?? assignmentIn(value) ?? "";
  const [name] = /^\w*/.exec(target) ?? [""];
  // Rails runs `config/environments/$RAILS_ENV.rb`, which could be a file below `/tmp`.
  if (name.endsWith("_ENV") && value.includes("/")) return false;
  const isPlain = isExported
    ? PLAIN_VALUE.test(assignmentIn(raw) ? raw.slice(target.length) : value.slice(target.length))
    : // The environment may have a known name already; then `make` gets each value.
      !KNOWN.has(name) || !/[$`]/.test(bare ?? value);
  if (isHarmlessName(name, isExported) && isPlain) return true;
  return [SWITCHED_OFF, LOCALE, OF_ONE_FORM].some((pattern) => pattern.test(raw));
}
