/** Secrets that a program reads from its input: from a pipe, a here-string, or a file that a command writes. */
import { type RedactionRule, sample as x, VALUE, valueAt } from "./shapes.ts";
import { isSecretName, isSecretValue } from "./values.ts";

const FLAGS = String.raw`(?:\s{1,4}-[\w-]{1,20})`;
const PRINTS = String.raw`(?:echo|printf)${FLAGS}{0,3}\s{1,4}(?:["']?%s(?:\\n)?["']?\s{1,4})?`;
/** Programs that read nothing but secrets. A shell is not among them: its input is commands, which must stay visible. */
const PROGRAMS = String.raw`kinit|cryptsetup|chpasswd|openconnect|keepassxc-cli|secret-tool|gnome-keyring-daemon|ecryptfs-[a-z-]{1,40}|zfs\s{1,4}(?:load|change)-key|grub-mkpasswd-pbkdf2|debconf-set-selections|[\w-]{0,30}passw(?:or)?d|wg\s{1,4}pubkey|kubeseal\s[^\n|;&<]{0,120}?--raw|az\s{1,4}devops\s{1,4}login|(?:op|bw|rbw|lpass|p4)\s{1,4}(?:-\w\s{1,4}\S{1,60}\s{1,4}){0,4}(?:signin|login|unlock)`;
/** Stores of secrets, with the word that stores one. */
const STORES = String.raw`(?:secrets?|env|variables?|keyring|pass|context)[\s:](?:versions\s{1,4})?(?:set|put|add|create|insert|bulk|import|store-secret)`;
const OPTIONS = String.raw`--(?:password|token|secret|key)-stdin|--with-token|-on-stdin|-stdin(?:pass)?|--passphrase-fd[\s=]{1,4}0`;
/**
 * Words before a program that reads its input: assignments, words of the shell, and programs without options that run
 * another one. With options the program would be hard to tell from the value of one: `env -u kinit bash` runs `bash`.
 */
const BEFORE = String.raw`(?:(?:[A-Za-z_]\w{0,40}=[^\s"'();|&<>\x60]{0,120}|if|then|elif|else|do|while|until|!|\{|exec|command|nohup|setsid|time|timeout\s{1,4}\d[\w.]{0,8}|env)\s{1,4}){0,6}`;
const SUDO_OPTIONS = String.raw`(?:\s{1,4}(?:-[A-Za-z]{0,4}[ughpCrtTUDR]\s{1,4}[^\s-]\S{0,60}|-\S{1,20})){0,6}`;
const SUDO = String.raw`sudo${SUDO_OPTIONS}\s{1,4}`;
/** A program that reads a secret, where a command begins. In `grep passwd` the word is an argument. */
const PROGRAM = String.raw`${BEFORE}(?:${SUDO}${BEFORE})?(?:[\w.~-]{0,40}\/){0,8}(?:${PROGRAMS})(?![\w-])`;
/** A part of a command that reads a secret. */
const READS = String.raw`(?:(?<![\w-])(?:sudo\s(?:[^\n|;&]{0,30}\s)?-[A-Za-z]{0,4}S[A-Za-z]{0,4}|${STORES})|${OPTIONS})(?![\w-])`;
/** A shell that runs its input: commands, which must stay visible. With `-c` or a script it does not. */
const SHELL = String.raw`(?<![\w.-])["'\\]?(?:[\w\\]{0,8}(?<!s)s\\?h|\$\{?SHELL\}?)["']?(?!["']?[\w.,:-])`;
const SHELL_OPTION = String.raw`[-+][A-Za-z]{0,6}[oO]\s{1,4}\w{1,30}|--(?:rcfile|init-file)(?:=|\s{1,4})[^\s=-]\S{0,80}|[-+](?![A-Za-z]{0,4}c(?![\w-]))[\w-]{1,20}`;
const RUNS_INPUT = String.raw`(?:\s{1,4}(?:${SHELL_OPTION})){0,6}(?:\s{1,4}-[A-Za-z]{0,4}s(?![\w-])|\s{0,4}(?:$|[\n;|&)<>\x60]|["'](?=[\s;|&)"']|$)|\d[<>]|-(?=\s|$)|\/(?:dev|proc)\/))`;
const SUDO_SHELL = String.raw`sudo${SUDO_OPTIONS}\s{1,4}(?:-[A-Za-z]{0,5}[si][A-Za-z]{0,5}|--shell|--login)(?![\w-])`;
const SOURCE = String.raw`(?<![^\s;|&(])(?:\.|source)\s{1,4}\S{0,40}(?:stdin|fd\/)`;
const NO_SHELL_BEFORE = String.raw`(?<!(?:${SHELL}(?!(?:[^\n;|&<]{0,80}\s)?-[a-z]{0,4}c\s)|${SUDO_SHELL}|${SOURCE})[^\n;|&<]{0,120})`;
const NO_SHELL_BEHIND = String.raw`(?![^\n|;]{0,200}?(?:${SUDO_SHELL}|${SHELL}${RUNS_INPUT}|${SOURCE}))`;
/** The beginnings of a here-document. The rule is tried there, and not at each name of a program before it. */
const HERE_DOCUMENTS = Array.from(
  "-\"'\\ \t_0123456789abcdefghijklmnopqrstuvwxyz",
  (next) => `<<${next}`,
);
const HERE_DOCUMENT = String.raw`<<-?\s{0,2}["'\\]?\w{1,40}["']?[ \t]{0,4}`;

/** A long word that is printed. Without it, other words may stand between the value and the pipe. */
const LONG_WORD = String.raw`(?:"[^"\n]{400,8192}"|'[^'\n]{400,8192}'|[^\s"'|;&<>]{400,8192}(?=[\s|]))?`;

/** The rule for a value by the case-sensitive words of a command: `sudo -s` is not `sudo -S`. */
function input(...rule: Parameters<typeof valueAt>): RedactionRule {
  const { pattern, ...rest } = valueAt(...rule);
  return { ...rest, pattern: new RegExp(pattern.source, "y") };
}

export const INPUT_RULES: readonly RedactionRule[] = [
  input(
    "piped-password",
    ["echo ", "printf "],
    String.raw`(?<![\w-])${PRINTS}(?=${LONG_WORD}[^\n]{0,400}?\|&?${NO_SHELL_BEHIND}(?:\s{0,4}${PROGRAM}|[^\n|;&]{0,200}?${READS}))(?!-)`,
    [
      "echo hunter2 | docker login -u ada --password-stdin",
      "echo 'hunter2' | sudo -S ls",
      "echo 'ada:hunter2' | chpasswd",
      "echo hunter2 | kinit ada",
      "echo hunter2 | gh secret set NAME",
      "echo hunter2 | sudo -u x /usr/bin/smbpasswd -s ada",
      "echo hunter2 | p4 -u ada login",
      "echo hunter2 | sudo -S bash install.sh",
      "echo hunter2 | sudo -S sh -c 'apt update'",
      `echo ${x(1_800)} | gh secret set NAME`,
    ],
    [
      "echo $PASS | docker login --password-stdin",
      "echo hello | tee x",
      "echo hi | sudo tee x",
      "echo 'id' | su - ada",
      "echo 'rm -r /srv' | sudo -s",
      "echo 'rm -r /srv' | sudo -S -u ada -i",
      "echo 'rm -r /srv' | sudo -S bash",
      "echo 'rm -r /srv' |& sudo -S bash -euo pipefail",
      "echo 'rm -r /srv' | timeout -k 1 5 sudo -S $SHELL 2>&1",
      "echo 'rm -r /srv' | if true; then sudo -S bash; fi",
      "echo 'rm -r /srv' | sudo -n bash -s -- --with-token",
      "echo 'rm -r /srv' | env A=1 bash -s --with-token",
      "echo 'rm -r /srv' | ssh -p 22 h bash -s -- --with-token",
      "echo hello | grep passwd",
      "echo hello | p4 submit",
    ],
  ),
  valueAt(
    "encoded-password",
    ["echo ", "printf "],
    String.raw`(?<![\w-])${PRINTS}["']?[\w.@+-]{1,80}:(?=[^\s"'|]{1,8192}["']?\s{0,4}\|\s{0,4}(?:openssl\s{1,4})?base64\b)`,
    ["echo -n ada:hunter2 | base64", "printf '%s' 'ada:hunter2' | openssl base64"],
    ["echo -n $U:$P | base64", "echo hello | base64"],
    String.raw`(?<secret>[^\s"'|$\x60]{1,8192})`,
  ),
  valueAt(
    "written-secret",
    ["echo ", "printf "],
    String.raw`(?<![\w-])${PRINTS}(?=${LONG_WORD}[^\n;&|>]{0,200}(?:>|\|\s{0,4}(?:${SUDO})?tee)\s{0,4}[\w./~-]{0,120}(?:password|passwd|passphrase|secret|token|api[_-]?key)(?:\.(?:txt|key|secret))?(?![\w./-]))(?!-)`,
    ["echo -n hunter2 > /run/secrets/db_password", "echo 'hunter2' | sudo tee /etc/api_key.txt"],
    ["echo $P > password.txt", "echo done > token.log", "echo 'a key: value' > token"],
    String.raw`["']?(?<secret>[^\s"'=:$\x60;|&>]{4,8192})(?=["']?\s)`,
  ),
  input(
    "here-string",
    ["<<<"],
    String.raw`(?<!<)${NO_SHELL_BEFORE}(?<=(?:${READS}|(?:^|[\n;|&("'\x60])[ \t]{0,40}${PROGRAM})[^\n;|&]{0,80})<<<\s{0,4}(?:\$(?=["']))?`,
    [
      "gh auth login --with-token <<< hunter2",
      "kinit ada <<< hunter2",
      "passwd ada <<< $'hunter2'",
      "KRB5CCNAME=/tmp/c kinit ada <<< hunter2",
      "if timeout 5 sudo -n env A=1 kinit ada <<< hunter2; then ls; fi",
      "docker secret create k - <<< 'hunter 2'",
    ],
    [
      "cat <<< hunter2",
      "sudo -S <<< $P",
      "su ada <<< id",
      "env -u kinit bash <<< ls",
      "exec -a passwd sh <<< ls",
      ". /dev/stdin --with-token <<< 'rm -r /srv'",
      "'bash' -s -- --with-token <<< 'rm -r /srv'",
      "mksh -s --with-token <<< 'rm -r /srv'",
      "sudo -S -s <<< 'rm -r /srv'",
    ],
  ),
  {
    id: "read-variable",
    keywords: ["<<<"],
    pattern: new RegExp(
      String.raw`(?<!<)(?<=(?<![\w-])read(?:\s{1,4}(?:-\w{1,8}|"[^"\n]{0,80}"|'[^'\n]{0,80}'|\w{1,80})){0,6}\s{1,4}(?<name>[A-Za-z_]\w{0,80})\s{0,4})<<<\s{0,4}(?:\$(?=["']))?${VALUE}`,
      "y",
    ),
    accepts: (secret, groups) =>
      isSecretName(groups["name"] ?? "") && isSecretValue(secret, groups),
    matches: [
      "read -r PASS <<< hunter2",
      "read -rsp 'Code: ' DB_PASS <<<'hunter 2'",
      'IFS=: read -r user password <<< "ada:hunter2"',
    ],
    ignores: [
      "read -r PASS <<< $P",
      'read -r TOKEN <<< "$(cat token)"',
      "read -r line <<< hunter2",
      "read -ra WORDS <<< 'the next token'",
      "read -r CACHE_KEY <<< linux-x64",
      "cat PASS <<< hello",
    ],
  },
  {
    ...input(
      "here-document",
      HERE_DOCUMENTS,
      String.raw`(?<!<)(?=${HERE_DOCUMENT}[^\n]{0,400}\n)(?:(?<=(?:(?:kinit|cryptsetup|passwd)[ \t]|(?:--(?:password|token|secret|key)-stdin|--with-token)(?![\w-]))[^\n;|&<]{0,200})${NO_SHELL_BEFORE}${HERE_DOCUMENT}|(?<=cat\s)${HERE_DOCUMENT}\|${NO_SHELL_BEHIND}[^\n|;&]{0,200}?${READS})[^\n;|&]{0,80}\n\s{0,4}`,
      [
        "kinit ada <<EOF\nhunter2\nEOF",
        "docker login -u ada --password-stdin <<'EOF'\nhunter2\nEOF",
        "gh auth login --with-token <<-EOF 2> log\n\thunter2\nEOF",
        "cat <<EOF | docker login -u ada --password-stdin reg.io\nhunter2\nEOF",
      ],
      [
        "cat <<EOF\nhunter2\nEOF",
        "cat <<EOF | tee x\nhello\nEOF",
        "cat /etc/passwd\nssh h <<EOF\nreboot now\nEOF",
        "docker login --password-stdin <<EOF\n$PASS\nEOF",
        "prettier --stdin <<EOF\nhello\nEOF",
      ],
    ),
    reach: "next",
  },
  valueAt(
    "printed-secret",
    ["echo ", "printf "],
    String.raw`(?<=(?:password|passwd|passphrase|pass|secret|token|private-key)[\w-]{0,20}[\s=]["']?(?:[<$]\(\s?)?)${PRINTS}(?!-)`,
    [
      "rsync --password-file=<(echo hunter2) a b",
      "restic --password-command 'echo hunter2' backup",
    ],
    ["rsync --password-file=<(echo $P) a b", "check-password; echo done"],
  ),
];
