import { Context, Data, type Option } from "effect";
import type { StoreEffect } from "../errors.ts";
import type { ChatId, SignInId } from "../ids.ts";
import type { UserGuild } from "../platforms/profile.ts";
import { hourMs, type Millis } from "../timestamp.ts";

/** The sites for signed-in users: the dashboard for owners of keys, `me` for everyone's own data. */
export type SignInSite = "dashboard" | "me";

/** A browser's sign-in to a site. */
export interface SiteSignIn {
  /** Hash of the browser's cookie. */
  readonly id: SignInId;
  readonly site: SignInSite;
  readonly chatId: ChatId;
  /** The name of the account that the user manages; null for a sign-in to the `me` site. */
  readonly account: string | null;
  /** The user's guilds when they signed in; null if the platform did not report them. */
  readonly guilds: ReadonlyArray<UserGuild> | null;
  /** The browser and system of the sign-in, by `deviceOf`. */
  readonly device: string | null;
  readonly createdAt: Millis;
  readonly expiresAt: Millis;
}

/**
 * A pending sign-in. It is stored until the browser returns from the platform, and can be used only once. Its secrets
 * are not stored: `Secrets.signIn` derives them from the returned `state`.
 */
export interface BegunSignIn {
  /** Keyed hash of the `state`. */
  readonly stateHash: string;
  readonly site: SignInSite;
  readonly expiresAt: Millis;
}

/** How long a user stays signed in, in milliseconds. @internal */
export const signInLifetime = 12 * hourMs;

/** How many sign-ins of a user hold, over all sites. An older one ends. @internal */
export const maxSignIns = 20;

/**
 * How many guilds are stored with a sign-in. A Discord user can be in 200.
 * @internal
 */
export const maxSignInGuilds = 200;

/** How long a user may take to sign in at the platform, in milliseconds. @internal */
export const beginLifetime = 10 * 60_000;

/**
 * - `denied`: the user denied the sign-in at the platform.
 * - `invalid`: this browser did not begin the sign-in, the sign-in was already used, or the platform refused it.
 * - `platform_down`: the platform does not answer; `cause` is its `PlatformUnavailable`.
 */
export type SignInRefusal = "denied" | "invalid" | "platform_down";

export class SignInRefused extends Data.TaggedError("SignInRefused")<{
  readonly reason: SignInRefusal;
  readonly cause?: unknown;
}> {
  override readonly message = `Cannot sign in: ${this.reason}`;
}

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

    /**
     * Stores a sign-in, and deletes the browser's previous one and all but the newest `maxSignIns` of the user. The
     * stored sign-in is never among the deleted ones.
     */
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
