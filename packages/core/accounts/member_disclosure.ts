import { Cache, Context, Duration, Effect, Exit, Layer } from "effect";
import type { DataScope } from "../data_scope.ts";
import type { StoreUnavailable } from "../errors.ts";
import type { GuildId } from "../ids.ts";
import { ChatPlatform } from "../platforms/chat_platform.ts";
import { MemberStore } from "./member_store.ts";

const freshFor = Duration.minutes(10);
const maxCached = 10_000;

/** Decides whether keys may see the nicknames and roles of a guild's members. @internal */
export class MemberDisclosure extends Context.Service<
  MemberDisclosure,
  {
    /**
     * Returns whether keys of the scope may see nicknames and roles of the guild's members. Keys of this guild may.
     * Global keys may if a member of their account has chosen the account and manages the guild. This is checked at
     * most every 10 minutes. If the platform does not answer, global keys may not.
     */
    readonly isAllowed: (scope: DataScope, guildId: GuildId) => Effect.Effect<boolean, StoreUnavailable>;
  }
>()("@accountlink/core/MemberDisclosure") {
  static readonly layer = Layer.effect(
    MemberDisclosure,
    Effect.gen(function* () {
      const members = yield* MemberStore;
      const platform = yield* ChatPlatform;

      const managed = yield* Cache.makeWith(
        Effect.fnUntraced(function* ([account, guildId]: readonly [string, GuildId]) {
          for (const { chatId, chosenAt } of yield* members.list(account)) {
            if (chosenAt === null) continue;
            if (yield* platform.isManager(guildId, chatId)) return true;
          }
          return false;
        }),
        {
          capacity: maxCached,
          timeToLive: (exit) => (Exit.isSuccess(exit) ? freshFor : Duration.zero),
        },
      );

      return MemberDisclosure.of({
        isAllowed: (scope, guildId) =>
          scope.kind === "guild"
            ? Effect.succeed(scope.guildId === guildId)
            : Cache.get(managed, [scope.account, guildId]).pipe(
                Effect.catchTag("PlatformUnavailable", () => Effect.succeed(false)),
              ),
      });
    }),
  );
}
