import { Context, type Effect, type Option } from "effect";
import type { StoreUnavailable } from "../errors.ts";
import type { ChatId, SignInId } from "../ids.ts";
import type { Millis } from "../timestamp.ts";
import type { BegunSignIn, SignInSite, SiteSignIn } from "./sign_in.ts";

/**
 * Stores sign-ins of users. `UserStore.erase` deletes the sign-ins of its user.
 *
 * An existing id or `stateHash`, and text that `isStorable` refuses, are defects.
 */
export class SignInStore extends Context.Service<
  SignInStore,
  {
    readonly begin: (begun: BegunSignIn) => Effect.Effect<void, StoreUnavailable>;

    /** Removes a pending sign-in if it began at the site and has not expired. Returns whether it was removed. */
    readonly takeBegun: (
      site: SignInSite,
      stateHash: string,
      at: Millis,
    ) => Effect.Effect<boolean, StoreUnavailable>;

    /** Stores a sign-in and deletes the browser's previous one. */
    readonly create: (signIn: SiteSignIn, replaced: SignInId | null) => Effect.Effect<void, StoreUnavailable>;

    /** Returns the sign-in to the site. None if it ended or has expired. */
    readonly find: (
      site: SignInSite,
      id: SignInId,
      at: Millis,
    ) => Effect.Effect<Option.Option<SiteSignIn>, StoreUnavailable>;

    /** Returns a user's active sign-ins to the site, newest first, ties by id. */
    readonly list: (
      site: SignInSite,
      chatId: ChatId,
      at: Millis,
    ) => Effect.Effect<ReadonlyArray<SiteSignIn>, StoreUnavailable>;

    /**
     * Deletes one of the user's sign-ins to the site, or all of them if `id` is null. Returns how many were deleted.
     */
    readonly end: (
      site: SignInSite,
      chatId: ChatId,
      id: SignInId | null,
    ) => Effect.Effect<number, StoreUnavailable>;

    /** Deletes expired sign-ins of all sites. */
    readonly sweep: (at: Millis) => Effect.Effect<void, StoreUnavailable>;
  }
>()("@accountlink/core/SignInStore") {}
