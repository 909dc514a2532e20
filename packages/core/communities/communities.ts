import { Clock, Context, Effect, Layer, Option, Schema } from "effect";
import type { WriteOrigin } from "../audit/audit.ts";
import { makeAnnounceItems } from "../couriers/couriers.ts";
import { InvalidParameter, parameterProblem } from "../errors.ts";
import { EventStore } from "../events/event_store.ts";
import type { GuildId } from "../ids.ts";
import { makeManagedScope } from "../keys/managed_scope.ts";
import type { Manager } from "../keys/owned_keys.ts";
import { GuildGuard, makeGuildChannels, requireOwnGuild } from "../platforms/mod.ts";
import {
  CommunitySettings,
  type CommunityUpdate,
  chosenIn,
  communitySettingNames,
  communitySettings,
  placeOf,
  type ScopedGuild,
} from "./community.ts";
import { CommunityStore } from "./community_store.ts";

/** Lets the teams of communities see and change the settings of their community. @internal */
export class Communities extends Context.Service<Communities>()("@accountlink/core/Communities", {
  make: Effect.gen(function* () {
    const store = yield* CommunityStore;
    const scopeOf = yield* makeManagedScope;
    const guard = yield* GuildGuard;
    const events = yield* EventStore;
    const announceLog = yield* makeAnnounceItems("guild_logs");
    const { findChannels } = yield* makeGuildChannels;

    /**
     * Fails with `InvalidParameter` for settings that the community cannot have, such as a channel in which the bot may
     * not post. Only changed settings are looked up.
     */
    const check = Effect.fn("Communities.check")(function* (guild: ScopedGuild, update: CommunityUpdate) {
      const { scope, guildId } = guild;
      yield* requireOwnGuild(scope, guildId);
      const problems = communitySettingNames
        .filter((name) => update[name] !== undefined && !isSetting(name, update[name]))
        .map((name) => parameterProblem(name, communitySettings[name].expected));
      if (problems.length > 0) return yield* new InvalidParameter({ parameters: problems });
      const { logChannelId = null } = update;
      const stored = Option.getOrNull(yield* store.find(placeOf(guild)));
      if (logChannelId === null || logChannelId === stored?.logChannelId) return;
      const { channels } = yield* findChannels(guildId);
      if (channels.some(({ id, mayPost }) => id === logChannelId && mayPost)) return;
      return yield* InvalidParameter.one("logChannelId", { is: "channel" });
    });

    /** Stores settings that were checked. */
    const put = Effect.fn("Communities.put")(function* (
      guild: ScopedGuild,
      update: CommunityUpdate,
      origin: WriteOrigin,
    ) {
      const { end: position } = yield* events.range(guild.scope.pid);
      const at = yield* Clock.currentTimeMillis;
      yield* store.update({ ...origin, ...placeOf(guild), update: chosenIn(update), position, at });
      yield* announceLog;
    });

    return {
      check,
      put,

      /** Changes settings, and leaves the others as they are. Fails as `check` does. */
      update: Effect.fn("Communities.update")(function* (
        guild: ScopedGuild,
        update: CommunityUpdate,
        origin: WriteOrigin,
      ) {
        yield* check(guild, update);
        yield* put(guild, update, origin);
      }),

      /**
       * Returns the guild with the scope of the given `pid`, which must belong to the account, and be a key's own. Fails with
       * `Forbidden` unless the bot is in the guild, and the member manages the guild now; for a key, an owner with whose
       * rights it acts.
       *
       * @param place.pid any text, such as a value from a URL
       * @param withoutBot whether to return the guild even if the bot has left it
       */
      enter: Effect.fn("Communities.enter")(function* (
        manager: Manager,
        { pid, guildId }: { readonly pid: string; readonly guildId: GuildId },
        withoutBot: boolean = false,
      ) {
        const { scope } = yield* scopeOf(manager, pid);
        yield* requireOwnGuild(scope, guildId);
        const managers = "key" in manager ? manager.owners : [manager.chatId];
        yield* Effect.catchIf(
          managers === null || scope.namesAnyGuild === true
            ? guard.enterAsUser(scope, guildId)
            : guard.requireManager(guildId, managers),
          (error) => withoutBot && error._tag === "Forbidden" && error.reason === "bot_not_in_guild",
          () => Effect.void,
        );
        return { scope, guildId } satisfies ScopedGuild;
      }),
    };
  }),
}) {
  static readonly layer = Layer.effect(Communities, Communities.make);
}

const isSetting = (name: keyof CommunitySettings, value: unknown): boolean =>
  Option.isSome(Schema.decodeUnknownOption<Schema.Decoder<unknown>>(communitySettings[name].schema)(value));
