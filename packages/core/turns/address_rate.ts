/**
 * Lets each client address do something a number of times in a second: all of them at once, then evenly. @internal
 */
export class AddressRate {
  /** When an address has its whole number again, by `performance.now()` or another clock. */
  readonly #spentUntil = new Map<string, number>();

  /**
   * Returns whether an address may do it now, and counts it then.
   *
   * @param now in milliseconds
   */
  take(address: string, perSecond: number, now: number): boolean {
    for (const [earlier, until] of this.#spentUntil) {
      if (until > now) break;
      this.#spentUntil.delete(earlier);
    }
    const until = Math.max(now, this.#spentUntil.get(address) ?? now) + 1_000 / perSecond;
    if (until - now > 1_000) return false;
    this.#spentUntil.delete(address);
    this.#spentUntil.set(address, until);
    return true;
  }
}
