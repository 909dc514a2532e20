/** Remembers which accounts sent requests last: an account that is alone need not leave time to others. */
import { Clock, Context, Effect } from "effect";

/** How long an account counts after its last request, in milliseconds. */
const window = 1_000;

interface Recent {
  account: string | null;
  at: number;
}

class RecentAccounts {
  #last: Recent = { account: null, at: -window };
  /** The account before the last one, which is another one. */
  #other: Recent = { account: null, at: -window };

  note(account: string, now: number): void {
    if (account !== this.#last.account) [this.#last, this.#other] = [this.#other, this.#last];
    this.#last.account = account;
    this.#last.at = now;
  }

  isAlone(account: string, now: number): boolean {
    const { at } = this.#last.account === account ? this.#other : this.#last;
    return now - at >= window;
  }
}

/** The accounts, users and client addresses that sent the last requests to a node. @internal */
export const RecentRequests = Context.Reference("@accountlink/core/RecentRequests", {
  defaultValue: () => new RecentAccounts(),
});

/** Notes a request of an account, a user or a client address. @internal */
export const noteRequest = (account: string): Effect.Effect<void> =>
  Effect.zipWith(RecentRequests, Clock.currentTimeMillis, (recent, now) => recent.note(account, now));

/** Whether no other account has sent a request in the last second. @internal */
export const isAlone = (account: string): Effect.Effect<boolean> =>
  Effect.zipWith(RecentRequests, Clock.currentTimeMillis, (recent, now) => recent.isAlone(account, now));
