import { Cache, Duration, Effect, Exit, Layer } from "effect";
import type { ChatId, GuildId } from "../ids.ts";
import { ChatPlatform } from "../platforms/chat_platform.ts";
import { GuildManagers } from "../platforms/guild_managers.ts";
import { hasAccepted, isOperators } from "./member.ts";
import { MemberStore } from "./member_store.ts";

const freshFor = Duration.minutes(10);
const maxCached = 10_000;

/** Provides `GuildManagers` by the members of accounts. @internal */
export const layerGuildManagers = Effect.gen(function* () {
  const members = yield* MemberStore;
  const platform = yield* ChatPlatform;
  const managers = yield* Cache.makeWith(
    ([guildId, chatId]: readonly [GuildId, ChatId]) => platform.isManager(guildId, chatId),
    {
      capacity: maxCached,
      timeToLive: (exit) => (Exit.isSuccess(exit) ? freshFor : Duration.zero),
    },
  );
  return GuildManagers.of({
    mayName: Effect.fnUntraced(function* (account, guildId) {
      const team = yield* members.list(account);
      if (isOperators(team)) return true;
      for (const { chatId } of team.filter(hasAccepted)) {
        if (yield* Cache.get(managers, [guildId, chatId])) return true;
      }
      return false;
    }),
  });
}).pipe(Layer.effect(GuildManagers));
