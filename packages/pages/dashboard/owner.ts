/** The account of who is signed in to the dashboard. */
import { Forbidden, InvalidSession, type StoreUnavailable } from "@accountlink/core/errors";
import { type Account, KeyStore } from "@accountlink/core/keys";
import type { SiteSignIn } from "@accountlink/core/sign_ins";
import { Effect, Option } from "effect";

/**
 * Makes the function that finds the account of a sign-in. It fails for a suspended account, and where
 * an erasure took the account.
 */
export const makeOwnerOf = Effect.map(KeyStore, (store) =>
  Effect.fnUntraced(function* ({
    chatId,
  }: SiteSignIn): Effect.fn.Return<Account, InvalidSession | Forbidden | StoreUnavailable> {
    const account = Option.getOrNull(yield* store.findAccountByChatId(chatId));
    if (account === null) return yield* new InvalidSession();
    return account.status === "suspended" ? yield* new Forbidden({ reason: "account_suspended" }) : account;
  }),
);
