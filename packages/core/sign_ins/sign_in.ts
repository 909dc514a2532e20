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

/** How long a user may take to sign in at the platform, in milliseconds. @internal */
export const beginLifetime = 10 * 60_000;
