/** Accounts, which own scopes and keys. */
import { Accounts as CoreAccounts, InvalidParameter, type StoreUnavailable } from "@accountlink/core";
import { KeyStore, type Tier, tiers } from "@accountlink/core/keys";
import { Context, Effect, Layer, Option } from "effect";
import * as Accept from "./accept.ts";
import { method, type Parameter } from "./method.ts";
import { type ActorOptions, originOf } from "./scope.ts";
import { withSpans } from "./spans.ts";

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
export class Accounts extends Context.Service<Accounts>()("accountlink/Accounts", {
  make: Effect.gen(function* () {
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

    return {
      /** Returns the accounts, sorted by name. */
      list: () => store.listAccounts(),

      /** Sets the tier of the account and of its keys, except partner and staff keys. */
      setTier: method(
        [name, ["tier", Accept.oneOf(tiers)], Accept.acting],
        (name: string, tier: Tier, options?: ActorOptions) =>
          changed(name, accounts.setTier(name, tier, originOf(options))),
      ),

      /** Suspends the account: the service refuses all of its keys. */
      suspend: method([name, Accept.acting], (name: string, options?: ActorOptions) =>
        changed(name, accounts.suspend(name, originOf(options))),
      ),

      /** Lifts the suspension of the account. */
      restore: method([name, Accept.acting], (name: string, options?: ActorOptions) =>
        changed(name, accounts.restore(name, originOf(options))),
      ),
    };
  }).pipe(withSpans("Accounts")),
}) {
  static readonly layer = Layer.effect(Accounts, Accounts.make);
}

const name: Parameter<string> = ["name", Accept.text];
