/** Sign-in at the platforms: OAuth 2.0 authorization code with PKCE, and OpenID Connect if the platform supports it. */
import { Context, Data, type Effect } from "effect";
import type { PlatformEffect } from "../errors.ts";
import type { ChatId, GameId, GuildId } from "../ids.ts";
import type { UserGuild } from "./profile.ts";

/** The parameters of one sign-in, the same for `begin` and `finish`. */
export interface SignIn {
  /** The callback URL, which is registered at the platform. */
  readonly redirectUri: string;
  /**
   * A random text that the platform returns in the callback. Like `nonce`, it has at least 128 random bits in
   * base64url.
   */
  readonly state: string;
  /** The secret of PKCE: 43 characters of base64url. */
  readonly codeVerifier: string;
  /** The platform returns this text in the ID token, if it issues one. */
  readonly nonce: string;
  readonly guildId: GuildId | null;
  /** Whether to request the user's guilds too. */
  readonly withGuilds?: boolean;
  /** Whether to request the user's connected game accounts too. */
  readonly withConnections?: boolean;
}

export interface SignedIn<UserId> {
  readonly userId: UserId;
  /** Whether the user is a member of the guild; undefined if the platform does not report it. */
  readonly isMember?: boolean | undefined;
  /** The user's guilds; undefined if not requested or not reported. */
  readonly guilds?: ReadonlyArray<UserGuild> | undefined;
  /**
   * The game accounts that the user connected at the platform, which verified them; undefined if not requested or not
   * reported.
   */
  readonly connections?: ReadonlyArray<GameId> | undefined;
}

/** The user or the platform denied the sign-in. */
export class ProofDenied extends Data.TaggedError("ProofDenied")<{}> {
  override readonly message = "The user denied the sign-in";
}

/**
 * The callback is invalid. For example, its state does not match, its code was used before, or its ID token is for
 * another audience.
 */
export class ProofInvalid extends Data.TaggedError("ProofInvalid")<{
  /** The reason, for the log. Contains no part of the callback. */
  readonly reason: string;
}> {
  override readonly message = `The sign-in is invalid: ${this.reason}`;
}

export interface IdentityProvider<UserId> {
  /** Returns the URL to send the browser to. Sends no request to the platform. */
  readonly begin: (signIn: SignIn) => Effect.Effect<{ readonly url: string }>;

  /**
   * Redeems the code and returns the user. Tokens are not kept. A code can be used only once, so nothing is retried:
   * after any failure the user must sign in again.
   *
   * @param callback the query of the callback
   */
  readonly finish: (
    signIn: SignIn,
    callback: URLSearchParams,
  ) => PlatformEffect<SignedIn<UserId>, ProofDenied | ProofInvalid>;
}

export class ChatIdentity extends Context.Service<ChatIdentity, IdentityProvider<ChatId>>()(
  "@accountlink/core/ChatIdentity",
) {}

/**
 * Sign-in at the game platform.
 *
 * @example
 * ```ts
 * import { GameId, PlatformUnavailable } from "@accountlink/core";
 * import { Effect, Layer } from "effect";
 *
 * // Asks a sign-in server of your own, which answers with a user or an error.
 * const redeem = async (code: string | null) => (code === "taken" ? { error: "expired" } : { user: "1" });
 *
 * const identity = Layer.succeed(GameIdentity, {
 *   begin: ({ redirectUri, state }) =>
 *     Effect.succeed({ url: `https://play.example/sign-in?${new URLSearchParams({ redirectUri, state })}` }),
 *   finish: ({ state }, callback) =>
 *     Effect.gen(function* () {
 *       if (callback.get("state") !== state) return yield* new ProofInvalid({ reason: "another state" });
 *       if (callback.has("denied")) return yield* new ProofDenied();
 *       const operation = "GameIdentity.finish";
 *       const answer = yield* Effect.tryPromise({
 *         try: () => redeem(callback.get("code")),
 *         catch: (cause) => new PlatformUnavailable({ operation, cause }),
 *       });
 *       if (answer.user === undefined) return yield* new ProofInvalid({ reason: "the code is used" });
 *       return { userId: GameId.make(answer.user) };
 *     }),
 * });
 *
 * const secrets = { state: "s", codeVerifier: "v", nonce: "n" };
 * const signIn = { redirectUri: "https://links.example/callback", ...secrets, guildId: null };
 * const finish = (callback: string) =>
 *   Effect.flatMap(GameIdentity, (game) => game.finish(signIn, new URLSearchParams(callback)));
 * await Effect.runPromise(Effect.provide(finish("state=s&code=c"), identity)); // { userId: "1" }
 * const denied = Effect.provide(Effect.flip(finish("state=s&denied")), identity);
 * (await Effect.runPromise(denied))._tag; // "ProofDenied"
 * ```
 */
export class GameIdentity extends Context.Service<GameIdentity, IdentityProvider<GameId>>()(
  "@accountlink/core/GameIdentity",
) {}
