/** Remembers which accounts sent requests last: an account that is alone need not leave time to others. */
import { Clock, Context, Effect } from "effect";
import { bounds } from "./bounds.ts";

interface Recent {
  account: string | null;
  at: number;
}

class RecentAccounts {
  #last: Recent = { account: null, at: Number.NEGATIVE_INFINITY };
  /** The account before the last one, which is another one. */
  #other: Recent = { account: null, at: Number.NEGATIVE_INFINITY };

  note(account: string, now: number): void {
    if (account !== this.#last.account) [this.#last, this.#other] = [this.#other, this.#last];
    this.#last.account = account;
    this.#last.at = now;
  }

  /** Whether no other account has sent a request of late. */
  isAlone(account: string, now: number): boolean {
    const { at } = this.#last.account === account ? this.#other : this.#last;
    return now - at >= bounds.presence;
  }
}

/** The accounts, users and client addresses that sent the last requests to a node. @internal */
export const RecentRequests = Context.Reference("@accountlink/core/RecentRequests", {
  defaultValue: () => new RecentAccounts(),
});

/** Notes a request of an account, a user or a client address. @internal */
export const noteRequest = (account: string): Effect.Effect<void> =>
  Effect.zipWith(RecentRequests, Clock.currentTimeMillis, (recent, now) => recent.note(account, now));
