/** How long a test waits for what has to come, on however busy a machine: for `vi.waitFor`. */
export const patience = { timeout: 30_000, interval: 50 } as const;
