/** The length of a new password, in code points. */
export const NEW_PASSWORD = { minLength: 10, maxLength: 256 } as const;
