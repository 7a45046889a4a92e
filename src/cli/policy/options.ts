/** An option with a value, and one without. */
export const text = { type: "string" } as const;
export const flag = { type: "boolean" } as const;

export const JSON_HELP = "  --json         one JSON object instead of text";
export const SERVICE_HELP = `  --url URL      the address of the service; SIGNALBOX_URL when absent, else http://127.0.0.1:8080

The key is in SIGNALBOX_API_KEY (of the scope policy), or a user's token in SIGNALBOX_TOKEN.`;
export const CODES_HELP = `Exit codes: 0 all is well, 1 the policy or the request is refused, 2 the arguments are not
understood, the file cannot be read, or the service cannot be reached.`;
