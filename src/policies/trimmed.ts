/**
 * A command without the space around it, as shells know space: `\v#` is a word for them. A backslash at its end belongs
 * together with the next character.
 */
export function trimmed(command: string): string {
  const start = command.search(/[^ \t\n]/);
  if (start === -1) return "";
  let end = command.length;
  while (" \t\n".includes(command[end - 1] ?? "")) end--;
  return command.slice(start, command[end - 1] === "\\" ? end + 1 : end);
}
