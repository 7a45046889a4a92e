import { commonRedactor } from "../../../src/audit/redaction/redact.ts";

/** Replaces the secrets in a text, by the rules that apply to every organization. */
export const redactText = (text: string) => commonRedactor.redact(text);
