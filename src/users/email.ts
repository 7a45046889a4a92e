import { BadInput, Conflict } from "../core/errors.ts";

const MAX_LENGTH = 254; // RFC 5321 §4.5.3.1.3, without the angle brackets

// What the HTML standard accepts in <input type=email>. Only ASCII: letter case then has one
// meaning, and no two addresses that look alike are different people.
const LABEL = "[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?";
const EMAIL = new RegExp(`^[a-zA-Z0-9.!#$%&'*+/=?^_\`{|}~-]+@${LABEL}(?:\\.${LABEL})*$`);

/** Whether a text is an email address. */
export function isEmail(text: string): boolean {
  return text.length <= MAX_LENGTH && EMAIL.test(text);
}

/**
 * Refuses a text that is not an email address.
 *
 * @throws BadInput naming the place
 */
export function checkEmail(text: string, place: string): void {
  if (!isEmail(text)) throw new BadInput(`${place}: expected an email address`);
}

/** The refusal of an email that another user has, in whatever organization. */
export function emailTaken(email: string): Conflict {
  return new Conflict(`A user with the email "${email}" exists already`);
}

/** What two spellings of one address have in common. */
export function emailKey(email: string): string {
  return email.toLowerCase();
}
