import { BadInput, Conflict } from "../core/errors.ts";

// The rule of the HTML standard for <input type=email>. Only ASCII: then letter case is well
// defined, and two addresses of different people cannot look alike.
const LABEL = "[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?";
/** The form of an email address. */
export const EMAIL = {
  pattern: `^[a-zA-Z0-9.!#$%&'*+/=?^_\`{|}~-]+@${LABEL}(?:\\.${LABEL})*$`,
  maxLength: 254, // RFC 5321 §4.5.3.1.3, without the angle brackets
} as const;
const PATTERN = new RegExp(EMAIL.pattern);

/** Whether a text is an email address. */
export function isEmail(text: string): boolean {
  return text.length <= EMAIL.maxLength && PATTERN.test(text);
}

/**
 * Refuses a text that is not an email address.
 *
 * @throws BadInput naming the place
 */
export function checkEmail(text: string, place: string): void {
  if (!isEmail(text)) throw new BadInput(`${place}: expected an email address`);
}

/** The refusal of an email that another user has, in any organization. */
export function emailTaken(email: string): Conflict {
  return new Conflict(`A user with the email "${email}" exists already`);
}

/** The key of an address: equal for all its spellings. */
export function emailKey(email: string): string {
  return email.toLowerCase();
}
