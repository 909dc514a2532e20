/** Discord and Roblox as the platforms, or Discord and a game of one's own over HTTP. */
import { GameIdentity } from "@accountlink/core";
import { expectedPrivateUrl, isPrivateUrl } from "@accountlink/core/addresses";
import { type GameWay, GameWays, gameWays } from "@accountlink/core/flow";
import { isVisibleName } from "@accountlink/core/name_text";
import { IsRoblox } from "@accountlink/core/platforms";
import { PageSettings } from "@accountlink/pages/page_settings";
import { cachedChatPlatform, cachedGamePlatform } from "@accountlink/platforms/http";
import {
  httpGameIdentity,
  httpGamePlatform,
  liveChatHome,
  liveChatIdentity,
  liveChatPage,
  liveChatPlatform,
  liveGameIdentity,
  liveGamePage,
  liveGamePlatform,
  livePlatformNames,
} from "@accountlink/platforms/live";
import { Layer, Predicate, Redacted } from "effect";
import { FetchHttpClient } from "effect/http";
import * as Accept from "./accept.ts";
import { changedSettings } from "./changed_settings.ts";
import { InvalidOptions, problemsOf } from "./options.ts";
import { noSignIn, type Platforms } from "./platforms.ts";

/** The applications that are registered with the platforms, as `docs/platforms.md` explains. */
export interface LiveOptions {
  readonly publicUrl: string;
  readonly discord: {
    readonly botToken: string;
    readonly clientId: string;
    readonly clientSecret: string;
    /** Another address than `https://discord.com/api/v10`, such as a proxy's. */
    readonly apiUrl?: string;
    /** Another page for sign-ins than `https://discord.com/oauth2/authorize`. */
    readonly authorizationUrl?: string;
  };
  /** Without an application at Roblox, nobody signs in there, and users prove their accounts in the other ways. */
  readonly roblox?: (RobloxApplication | { readonly clientId?: never; readonly clientSecret?: never }) & {
    /** A key of Open Cloud. */
    readonly apiKey?: string;
  };
  /** A game in place of Roblox, made by `gameOverHttp`. */
  readonly game?: GameOverHttp;
}

/** A game of one's own, which answers over HTTP as `docs/platforms.md` describes. */
export interface GameOverHttpOptions {
  /** The address below which the game answers. */
  readonly url: string;
  /** The name of the game within a sentence, which people read. */
  readonly name: string;
  /** What proves this service to the game, in the header `Authorization: Bearer`. */
  readonly token: string;
  /** The kind of connections at Discord that are accounts of the game, such as `steam`. */
  readonly connection?: string;
  /** An OpenID Connect issuer at which players sign in. `claim` is the claim with the game ID, `sub` if left out. */
  readonly signIn?: {
    readonly issuer: string;
    readonly clientId: string;
    readonly clientSecret: string;
    readonly claim?: string;
  };
}

/** A game for the option `game` of `live`. */
export interface GameOverHttp extends GameOverHttpOptions {
  readonly kind: "http";
}

const isGame = (value: unknown): value is GameOverHttp => Predicate.hasProperty(value, "kind");

/**
 * A game of one's own over HTTP, in place of Roblox. Throws `InvalidOptions` for what the variables of the server refuse,
 * such as http to a public address.
 *
 * @example
 * ```ts
 * const platforms = live({
 *   publicUrl: "https://links.example",
 *   discord: { botToken: "bot token", clientId: "1", clientSecret: "secret" },
 *   game: gameOverHttp({
 *     url: "https://play.example/links",
 *     name: "Voxel",
 *     token: "token",
 *     connection: "steam",
 *   }),
 * });
 * ```
 */
export const gameOverHttp = (options: GameOverHttpOptions): GameOverHttp => {
  refuse(gameProblems(options));
  return { ...options, url: options.url.replace(/\/+$/u, ""), kind: "http" };
};

/** Throws `InvalidOptions` if there are problems. */
const refuse = (problems: ReadonlyArray<string>): void => {
  if (problems.length > 0) throw new InvalidOptions({ problems });
};

const credential = Accept.textThat((text) => /^[\x21-\x7e]+$/u.test(text), "text without white space");
const word = (what: string) => Accept.textThat((text) => /^[\w:./-]{1,200}$/u.test(text), what);
const privateUrl = Accept.textThat(isPrivateUrl, expectedPrivateUrl);

/** What the variables of the server accept too. */
const gameProblems = problemsOf(
  "gameOverHttp",
  Accept.fields({
    url: privateUrl,
    name: Accept.textThat(isVisibleName, "a name"),
    token: credential,
    connection: Accept.maybe(word("a kind of connections, such as steam")),
    signIn: Accept.maybe(
      Accept.fields({
        issuer: privateUrl,
        clientId: credential,
        clientSecret: credential,
        claim: Accept.maybe(word("the name of a claim")),
      }),
    ),
  }),
);

const someText = Accept.textThat((text) => text !== "", "text, not empty");

const liveProblems = problemsOf(
  "live",
  Accept.fields({
    publicUrl: someText,
    discord: Accept.fields({
      botToken: someText,
      clientId: someText,
      clientSecret: someText,
      apiUrl: Accept.maybe(someText),
      authorizationUrl: Accept.maybe(someText),
    }),
    roblox: Accept.maybe(
      Accept.fields({
        clientId: Accept.maybe(someText),
        clientSecret: Accept.maybe(someText),
        apiKey: Accept.maybe(someText),
      }),
    ),
    game: Accept.maybe(Accept.that(isGame, "a game that gameOverHttp made")),
  }),
);

interface RobloxApplication {
  readonly clientId: string;
  readonly clientSecret: string;
}

/**
 * Discord and Roblox, for the option `platforms`. Lookups are cached for 1 to 30 seconds. Throws `InvalidOptions` for
 * options that are missing, empty or unknown.
 *
 * @example
 * ```ts
 * import { createAccountLink } from "accountlink";
 *
 * const platforms = live({
 *   publicUrl: "https://links.example",
 *   discord: { botToken: "bot token", clientId: "1", clientSecret: "secret" },
 *   roblox: { clientId: "2", clientSecret: "secret" },
 * });
 * const al = await createAccountLink({ platforms });
 * await al.links.get("100001"); // null
 * await al.close();
 * ```
 */
export const live = (options: LiveOptions): Platforms => {
  refuse(liveProblems(options));
  const { publicUrl, discord, roblox = {}, game } = options;
  const { clientId, apiUrl, authorizationUrl } = discord;
  const chat = {
    publicUrl,
    clientId,
    clientSecret: Redacted.make(discord.clientSecret),
    apiUrl,
    authorizationUrl,
  };
  const bot = { publicUrl, clientId, botToken: Redacted.make(discord.botToken), apiUrl };
  return Layer.mergeAll(
    cachedChatPlatform().pipe(Layer.provide(liveChatPlatform(bot))),
    liveChatIdentity({ ...chat, connection: game?.connection }),
    game === undefined ? robloxOf(roblox) : gameOf(game),
    changedSettings(PageSettings, {
      chatName: livePlatformNames.chat,
      gameName: game?.name ?? livePlatformNames.game,
      chatHome: liveChatHome,
      chatPage: liveChatPage,
      gamePage: game === undefined ? liveGamePage : null,
    }),
  ).pipe(Layer.provide(FetchHttpClient.layer));
};

const robloxOf = ({ clientId, clientSecret, apiKey }: NonNullable<LiveOptions["roblox"]>) =>
  Layer.mergeAll(
    cachedGamePlatform().pipe(
      Layer.provide(liveGamePlatform({ apiKey: apiKey === undefined ? undefined : Redacted.make(apiKey) })),
    ),
    clientId === undefined
      ? withoutSignIn("an application at Roblox", ["oauth"])
      : liveGameIdentity({ clientId, clientSecret: Redacted.make(clientSecret) }),
  );

const gameOf = ({ url, token, connection, signIn }: GameOverHttp) => {
  const off: ReadonlyArray<GameWay> = connection === undefined ? ["connection"] : [];
  return Layer.mergeAll(
    cachedGamePlatform().pipe(Layer.provide(httpGamePlatform({ url, token: Redacted.make(token) }))),
    Layer.succeed(IsRoblox, false),
    signIn === undefined
      ? withoutSignIn("the option signIn of gameOverHttp", ["oauth", ...off])
      : Layer.merge(
          httpGameIdentity({ ...signIn, clientSecret: Redacted.make(signIn.clientSecret) }),
          waysWithout(off),
        ),
  );
};

const waysWithout = (off: ReadonlyArray<GameWay>) =>
  Layer.succeed(
    GameWays,
    gameWays.filter((way) => !off.includes(way)),
  );

const withoutSignIn = (expected: string, off: ReadonlyArray<GameWay>) =>
  Layer.merge(Layer.succeed(GameIdentity, noSignIn("GameIdentity.finish", expected)), waysWithout(off));
