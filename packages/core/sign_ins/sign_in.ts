/** Sign-ins of people in browsers, with which they manage what is theirs. */
import type { ChatId, SignInId } from "../ids.ts";
import type { UserGuild } from "../platforms/profile.ts";
import { hourMs, type Millis } from "../timestamp.ts";

/** Where people sign in: owners of keys at the dashboard, anyone to their own data. */
export type SignInSite = "dashboard" | "me";

/** A person who is signed in to a site with a browser. Only a hash of the browser's cookie is stored. */
export interface SiteSignIn {
  /** Hash of the browser's cookie. */
  readonly id: SignInId;
  readonly site: SignInSite;
  readonly chatId: ChatId;
  /** The name of the account that the person uses; null at the other site. */
  readonly account: string | null;
  /** The guilds of the person when they signed in; null if the platform did not report them. */
  readonly guilds: ReadonlyArray<UserGuild> | null;
  readonly createdAt: Millis;
  readonly expiresAt: Millis;
}

/**
 * A sign-in that has begun, stored until the browser returns from the platform and used once. Its
 * secrets are not stored: `Secrets.signIn` derives them from the `state` that returns.
 */
export interface BegunSignIn {
  /** Keyed hash of the `state`. */
  readonly stateHash: string;
  readonly site: SignInSite;
  readonly expiresAt: Millis;
}

/**
 * How long a person stays signed in, in milliseconds.
 *
 * @internal
 */
export const signInLifetime = 12 * hourMs;

/** How long a person may take at the platform, in milliseconds. */
export const beginLifetime = 10 * 60_000;
