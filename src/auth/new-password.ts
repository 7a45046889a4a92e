/** How long a password may be that is set, in code points. */
export const NEW_PASSWORD = { minLength: 10, maxLength: 256 } as const;
