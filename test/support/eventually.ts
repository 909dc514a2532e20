import { vi } from "vitest";

/** Repeats a check until it passes, for at most 30 seconds by default, since machines are busy. Returns its value. */
export const eventually = <A>(
  check: () => A | Promise<A>,
  options: { readonly timeout?: number; readonly interval?: number } = {},
): Promise<A> => vi.waitFor(check, { timeout: 30_000, interval: 50, ...options });
