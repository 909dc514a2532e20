/** Discord and Roblox as the platforms. */
import { GameIdentity } from "@accountlink/core";
import { GameWays, gameWays } from "@accountlink/core/flow";
import { cachedChatPlatform, cachedGamePlatform } from "@accountlink/platforms/http";
import {
  liveChatIdentity,
  liveChatPlatform,
  liveGameIdentity,
  liveGamePlatform,
} from "@accountlink/platforms/live";
import { Layer, Redacted } from "effect";
import { FetchHttpClient } from "effect/http";
import { noSignIn, type Platforms } from "./platforms.ts";

/** The applications that are registered with the platforms, as `docs/platforms.md` explains. */
export interface LiveOptions {
  readonly publicUrl: string;
  readonly discord: { readonly botToken: string; readonly clientId: string; readonly clientSecret: string };
  /** Without an application at Roblox, nobody signs in there, and users prove their accounts in the other ways. */
  readonly roblox?: (RobloxApplication | { readonly clientId?: never; readonly clientSecret?: never }) & {
    /** A key of Open Cloud. */
    readonly apiKey?: string;
  };
}

interface RobloxApplication {
  readonly clientId: string;
  readonly clientSecret: string;
}

/**
 * Discord and Roblox, for the option `platforms`. Lookups are cached for 1 to 30 seconds.
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
export const live = ({ publicUrl, discord, roblox = {} }: LiveOptions): Platforms => {
  const { clientId } = discord;
  const chat = { publicUrl, clientId, clientSecret: Redacted.make(discord.clientSecret) };
  const bot = { publicUrl, clientId, botToken: Redacted.make(discord.botToken) };
  const apiKey = roblox.apiKey === undefined ? undefined : Redacted.make(roblox.apiKey);
  return Layer.mergeAll(
    cachedChatPlatform().pipe(Layer.provide(liveChatPlatform(bot))),
    cachedGamePlatform().pipe(Layer.provide(liveGamePlatform({ apiKey }))),
    liveChatIdentity(chat),
    roblox.clientId === undefined
      ? Layer.mergeAll(
          Layer.succeed(GameIdentity, noSignIn("GameIdentity.finish", "an application at Roblox")),
          Layer.succeed(
            GameWays,
            gameWays.filter((way) => way !== "oauth"),
          ),
        )
      : liveGameIdentity({ clientId: roblox.clientId, clientSecret: Redacted.make(roblox.clientSecret) }),
  ).pipe(Layer.provide(FetchHttpClient.layer));
};
