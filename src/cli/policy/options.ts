export const JSON_HELP = "  --json         one JSON object instead of text";
export const SERVICE_HELP = `  --url URL      the address of the service; by default SIGNALBOX_URL, then http://127.0.0.1:8080

The key is in SIGNALBOX_API_KEY (of the scope policy), or a user's token in SIGNALBOX_TOKEN.`;
export const CODES_HELP = `Exit codes: 0 success, 1 the policy or the request is refused, 2 the arguments are not valid,
the file cannot be read, or the service cannot be reached.`;
