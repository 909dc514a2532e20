/**
 * The ports for proof of identity: a user signs in at a platform, and the platform says who it was (OAuth 2.0
 * authorization code with PKCE, OpenID Connect where the platform has it).
 */
import { Context, Data, type Effect } from "effect";
import type { PlatformUnavailable } from "../errors.ts";
import type { ChatId, GameId, GuildId } from "../ids.ts";

/** One sign-in: what is made before the browser leaves, and kept until it comes back. */
export interface SignIn {
  /** The address of the callback, the same in both steps and registered at the platform. */
  readonly redirectUri: string;
  /** Comes back with the browser. 128 or more random bits, base64url, like the nonce. */
  readonly state: string;
  /** The secret of PKCE, which never leaves the service before the code is redeemed: 43 characters of base64url. */
  readonly codeVerifier: string;
  /** Comes back inside the ID token, where the platform gives one. */
  readonly nonce: string;
  /** The guild that asks, or null. */
  readonly guildId: GuildId | null;
}

/** Who signed in. */
export interface SignedIn<UserId> {
  readonly userId: UserId;
  /** Whether the user is a member of the guild that asks; undefined when the platform does not tell it with a sign-in. */
  readonly isMember?: boolean | undefined;
}

/** The user, or the platform for them, said no. */
export class ProofDenied extends Data.TaggedError("ProofDenied")<{}> {
  override readonly message = "The user denied the sign-in";
}

/** What came back proves nothing: another state, a code used twice, an ID token that is not for us. */
export class ProofInvalid extends Data.TaggedError("ProofInvalid")<{
  /** What was wrong, for the log: no part of what came back. */
  readonly reason: string;
}> {
  override readonly message = `The sign-in proves nothing: ${this.reason}`;
}

/** A platform at which users of one kind sign in. */
export interface IdentityProvider<UserId> {
  /** Gives the address to send the browser to. Asks nothing of the platform. */
  readonly begin: (signIn: SignIn) => Effect.Effect<{ readonly url: string }>;

  /**
   * Tells who signed in. The code is redeemed, and the tokens are dropped with the answer. It is never tried again,
   * since a code is good once: a failure of either kind needs a new sign-in.
   *
   * @param callback the query of the request that the browser came back with
   */
  readonly finish: (
    signIn: SignIn,
    callback: URLSearchParams,
  ) => Effect.Effect<SignedIn<UserId>, ProofDenied | ProofInvalid | PlatformUnavailable>;
}

/** Sign-in at the chat platform. */
export class ChatIdentity extends Context.Service<ChatIdentity, IdentityProvider<ChatId>>()(
  "@accountlink/core/ChatIdentity",
) {}

/** Sign-in at the game platform. */
export class GameIdentity extends Context.Service<GameIdentity, IdentityProvider<GameId>>()(
  "@accountlink/core/GameIdentity",
) {}
