import { Context, type Option } from "effect";
import type { StoreEffect } from "../errors.ts";
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
    readonly begin: (begun: BegunSignIn) => StoreEffect<void>;

    /** Removes a pending sign-in if it began at the site and has not expired. Returns whether it was removed. */
    readonly takeBegun: (site: SignInSite, stateHash: string, at: Millis) => StoreEffect<boolean>;

    /** Stores a sign-in and deletes the browser's previous one. */
    readonly create: (signIn: SiteSignIn, replaced: SignInId | null) => StoreEffect<void>;

    /** Returns the sign-in to the site. None if it ended or has expired. */
    readonly find: (site: SignInSite, id: SignInId, at: Millis) => StoreEffect<Option.Option<SiteSignIn>>;

    /** Returns a user's active sign-ins to the site, newest first, ties by id. */
    readonly list: (site: SignInSite, chatId: ChatId, at: Millis) => StoreEffect<ReadonlyArray<SiteSignIn>>;

    /**
     * Deletes one of the user's sign-ins to the site, or all of them if `id` is null. Returns how many were deleted.
     */
    readonly end: (site: SignInSite, chatId: ChatId, id: SignInId | null) => StoreEffect<number>;

    /** Deletes expired sign-ins of all sites. */
    readonly sweep: (at: Millis) => StoreEffect<void>;
  }
>()("@accountlink/core/SignInStore") {}
