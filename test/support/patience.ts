/** Options of `vi.waitFor`, with a timeout for busy machines. */
export const patience = { timeout: 30_000, interval: 50 } as const;
