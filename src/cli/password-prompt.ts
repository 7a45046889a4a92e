import type { ReadStream } from "node:tty";

const ENTER = ["\r", "\n", "\u0004"];
const INTERRUPT = "\u0003";
const ERASE = ["\u007f", "\b"];

/**
 * Reads a password: from a terminal without echo, otherwise the first line of the standard input.
 *
 * @throws Error if the input is empty or was interrupted
 */
export async function readPassword(
  input: ReadStream,
  write: (text: string) => void,
  prompt: string,
): Promise<string> {
  const password = input.isTTY ? await typed(input, write, prompt) : await firstLine(input);
  if (password === "") throw new Error("No password was given on standard input");
  return password;
}

async function firstLine(input: ReadStream): Promise<string> {
  let text = "";
  for await (const piece of input.setEncoding("utf8") as AsyncIterable<string>) text += piece;
  return text.split(/\r?\n/)[0] ?? "";
}

function typed(input: ReadStream, write: (text: string) => void, prompt: string): Promise<string> {
  input.setRawMode(true).setEncoding("utf8").resume();
  write(prompt); // only after the echo is off
  return new Promise((resolve, reject) => {
    let characters: string[] = [];
    const onData = (text: string): void => {
      for (const character of text) {
        if (character === INTERRUPT) return end(() => reject(new Error("Interrupted")));
        if (ENTER.includes(character)) return end(() => resolve(characters.join("")));
        characters = ERASE.includes(character)
          ? characters.slice(0, -1)
          : [...characters, character];
      }
    };
    const end = (settle: () => void): void => {
      input.off("data", onData).setRawMode(false).pause();
      write("\n");
      settle();
    };
    input.on("data", onData);
  });
}
