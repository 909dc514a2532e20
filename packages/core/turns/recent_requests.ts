/** Remembers which accounts sent requests last: an account that is alone need not leave time to others. */
import { Clock, Context, Effect } from "effect";
import { bounds } from "./bounds.ts";

class RecentAccounts {
  #last: string | null = null;
  #lastAt = Number.NEGATIVE_INFINITY;
  /** When another account than the last one sent a request. */
  #otherAt = Number.NEGATIVE_INFINITY;

  note(account: string, now: number): void {
    if (account !== this.#last) this.#otherAt = this.#lastAt;
    this.#last = account;
    this.#lastAt = now;
  }

  /** Whether no other account has sent a request of late. */
  isAlone(account: string, now: number): boolean {
    return now - (this.#last === account ? this.#otherAt : this.#lastAt) >= bounds.presence;
  }
}

/** The accounts, users and client addresses that sent the last requests to a node. @internal */
export const RecentRequests = Context.Reference("@accountlink/core/RecentRequests", {
  defaultValue: () => new RecentAccounts(),
});

/** Notes a request of an account, a user or a client address. @internal */
export const noteRequest = (account: string): Effect.Effect<void> =>
  Effect.zipWith(RecentRequests, Clock.currentTimeMillis, (recent, now) => recent.note(account, now));
