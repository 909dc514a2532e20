/** What a member loses in guilds when the link in a scope is removed. */
import { Effect, Option } from "effect";
import { type CommunityPlace, placeOf } from "../communities/community.ts";
import type { StoreUnavailable } from "../errors.ts";
import type { ChatId, Pid } from "../ids.ts";
import { forEachLimited } from "../limited_loops.ts";
import { Profiles } from "../platforms/profiles.ts";
import { MemberSync } from "./member_sync.ts";
import { givesSomething, type RolePlan } from "./role_plan.ts";
import { RolePlanStore } from "./role_plan_store.ts";

/** How long the chat platform is waited for. */
const timeout = "2 seconds";

/** At most this many guilds are asked. */
const mostAsked = 5;

/** What a member loses in a guild. Null if it is unknown. @internal */
export interface LostInGuild extends CommunityPlace {
  /** Null if the chat platform does not tell it. */
  readonly guildName: string | null;
  readonly lost: {
    /** The names of the roles. */
    readonly roles: ReadonlyArray<string>;
    readonly nickname: boolean;
  } | null;
}

/** @internal */
export const makeLostWithLink = Effect.gen(function* () {
  const store = yield* RolePlanStore;
  const members = yield* MemberSync;
  const profiles = yield* Profiles;

  const ask = Effect.fnUntraced(
    function* (plan: RolePlan, chatId: ChatId) {
      const { remove, nickname } = yield* members.previewRelease(plan, chatId);
      const isNamed = nickname !== null;
      if (remove.length === 0) return { roles: [], nickname: isNamed };
      const { findGuildRoles } = yield* members.roles;
      const guild = yield* findGuildRoles(plan.guildId);
      const names = new Map(Option.isNone(guild) ? [] : guild.value.roles.map(({ id, name }) => [id, name]));
      return { roles: remove.map((roleId) => names.get(roleId) ?? roleId), nickname: isNamed };
    },
    Effect.timeoutOption(timeout),
    Effect.map(Option.getOrNull),
    Effect.catchTag("PlatformUnavailable", () => Effect.succeed(null)),
    // Who is not in the guild has nothing to lose there.
    Effect.catchTag("Forbidden", () => Effect.succeed({ roles: [], nickname: false })),
  );

  /** Leaves out guilds in which the member loses nothing. Only the first guilds are asked what the member has. */
  return Effect.fnUntraced(function* (
    pids: ReadonlyArray<Pid>,
    chatId: ChatId,
  ): Effect.fn.Return<ReadonlyArray<LostInGuild>, StoreUnavailable> {
    const plans = (yield* forEachLimited(pids, 8, (pid) => store.list(pid))).flat();
    const giving = plans.filter((plan) => plan.state === "on" && givesSomething(plan));
    const found = yield* forEachLimited(
      giving,
      mostAsked,
      Effect.fnUntraced(function* (plan, index) {
        const lost = index < mostAsked ? yield* ask(plan, chatId) : null;
        const guild = yield* profiles.guild(plan.guildId);
        return { ...placeOf(plan), guildName: guild?.name ?? null, lost };
      }),
    );
    return found.filter(({ lost }) => lost === null || lost.roles.length > 0 || lost.nickname);
  });
});
