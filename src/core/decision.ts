/** The decisions of a policy on a command. */
export const decisions = ["ALLOWED", "DENIED"] as const;
export type Decision = (typeof decisions)[number];

/** The kinds of callers that run commands. */
export const consumers = ["human", "ai", "ci"] as const;
export type Consumer = (typeof consumers)[number];
