/** Secrets that a program reads from its input: from a pipe, a here-string, or a file that a command writes. */
import { type RedactionRule, valueAt } from "./shapes.ts";

const FLAGS = String.raw`(?:\s{1,4}-[\w-]{1,20})`;
const PRINTS = String.raw`(?:echo|printf)${FLAGS}{0,3}\s{1,4}(?:["']?%s(?:\\n)?["']?\s{1,4})?`;
/** Programs that read nothing but secrets. A shell is not among them: its input is commands, which must stay visible. */
const PROGRAMS =
  "kinit|cryptsetup|chpasswd|vncpasswd|openconnect|keepassxc-cli|secret-tool|gnome-keyring-daemon|grub-mkpasswd-pbkdf2|debconf-set-selections";
/** Stores of secrets, with the word that stores one. */
const STORES = String.raw`(?:secrets?|env|variables?|keyring|pass|context)[\s:](?:versions\s{1,4})?(?:set|put|add|create|insert|bulk|import|store-secret)`;
const OPTIONS = String.raw`--(?:password|token|secret|key)-stdin|--with-token|-on-stdin|-stdin(?:pass)?|--passphrase-fd[\s=]{1,4}0`;
/** A part of a command that reads a secret. */
const READS = String.raw`(?:(?<![\w-])(?:${PROGRAMS}|passwd|wg\s{1,4}pubkey|sudo\s(?:[^\n|;&]{0,30}\s)?-[A-Za-z]{0,4}S[A-Za-z]{0,4}|${STORES})|${OPTIONS})(?![\w-])`;

export const INPUT_RULES: readonly RedactionRule[] = [
  valueAt(
    "piped-password",
    ["echo ", "printf "],
    String.raw`(?<![\w-])${PRINTS}(?=[^\n]{1,400}?\|[^\n|]{0,200}?${READS})(?!-)`,
    [
      "echo hunter2 | docker login -u ada --password-stdin",
      "echo 'hunter2' | sudo -S ls",
      "echo 'ada:hunter2' | chpasswd",
      "echo hunter2 | kinit ada",
      "echo hunter2 | gh secret set NAME",
    ],
    [
      "echo $PASS | docker login --password-stdin",
      "echo hello | tee x",
      "echo hi | sudo tee x",
      "echo 'id' | su - ada",
    ],
  ),
  valueAt(
    "here-string",
    ["<<<"],
    String.raw`(?<=${READS}[^\n;|&]{0,80})<<<\s{0,4}(?:\$(?=["']))?`,
    [
      "gh auth login --with-token <<< hunter2",
      "kinit ada <<< hunter2",
      "passwd ada <<< $'hunter2'",
      "docker secret create k - <<< 'hunter 2'",
    ],
    ["cat <<< hunter2", "sudo -S <<< $P", "su ada <<< id"],
  ),
  valueAt(
    "here-document",
    ["kinit ", "cryptsetup ", "passwd "],
    String.raw`(?:kinit|cryptsetup|passwd)\s[^\n;|&<]{0,200}<<-?\s{0,2}["']?\w{1,40}["']?\n`,
    ["kinit ada <<EOF\nhunter2\nEOF"],
    ["cat <<EOF\nhunter2\nEOF"],
  ),
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
