/** Accounts, which own scopes and keys. */

import { Accounts as CoreAccounts, InvalidParameter, type StoreUnavailable } from "@accountlink/core";
import { type Account, KeyStore, type Tier } from "@accountlink/core/keys";
import { Context, Effect, Layer, Option } from "effect";
import { originOf, type WriteOptions } from "./scope.ts";
import { checked, signatures } from "./signatures.ts";

type Options = Pick<WriteOptions, "actor">;
type Change = Effect.Effect<Account, InvalidParameter | StoreUnavailable>;

/**
 * The accounts of the service. A change of an account applies to its keys on every node within a second. An unknown
 * account name fails with `InvalidParameter`.
 *
 * @example
 * ```ts
 * import { Effect } from "effect";
 *
 * const program = Effect.gen(function* () {
 *   const accounts = yield* Accounts;
 *   return (yield* accounts.suspend("default", { actor: "Grace" })).status;
 * });
 * const service = AccountLink.layerMemory({ gameUserExists: () => true });
 * await Effect.runPromise(Effect.provide(program, service)); // "suspended"
 * ```
 */
export class Accounts extends Context.Service<
  Accounts,
  {
    /** Returns the accounts, sorted by name. */
    readonly list: () => Effect.Effect<ReadonlyArray<Account>, StoreUnavailable>;

    /** Sets the tier of the account and of its keys, except partner and staff keys. */
    readonly setTier: (name: string, tier: Tier, options?: Options) => Change;

    /** Suspends the account: the service refuses all of its keys. */
    readonly suspend: (name: string, options?: Options) => Change;

    readonly restore: (name: string, options?: Options) => Change;
  }
>()("accountlink/Accounts") {
  static readonly layer = Layer.effect(
    Accounts,
    Effect.gen(function* () {
      const accounts = yield* CoreAccounts;
      const store = yield* KeyStore;

      const changed = Effect.fnUntraced(function* (
        name: string,
        change: Effect.Effect<unknown, StoreUnavailable>,
      ) {
        yield* change;
        const account = yield* store.findAccount(name);
        if (Option.isSome(account)) return account.value;
        return yield* InvalidParameter.one("name", `is "${name}", expected the name of an account`);
      });

      return Accounts.of(
        checked<Accounts["Service"]>(
          {
            list: () => store.listAccounts(),
            setTier: (name, tier, options) => changed(name, accounts.setTier(name, tier, originOf(options))),
            suspend: (name, options) => changed(name, accounts.suspend(name, originOf(options))),
            restore: (name, options) => changed(name, accounts.restore(name, originOf(options))),
          },
          signatures.accounts,
        ),
      );
    }),
  );
}
