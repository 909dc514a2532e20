/** The state of a community: who has linked, whether the rules are on, and what the bot may do there. */
import { Effect, Option } from "effect";
import { countUndecided, makeAltQueue } from "../alts/alt_queue.ts";
import { CommunityStore, type Panel, type PauseReason } from "../communities/mod.ts";
import { type DataScope, guildOf } from "../data_scope.ts";
import type { GuildId, Pid } from "../ids.ts";
import type { Manager, ScopeSettings } from "../keys/mod.ts";
import { ChatPlatform } from "../platforms/chat_platform.ts";
import { givesSomething, RolePlanStore } from "../roles/mod.ts";
import type { Millis } from "../timestamp.ts";
import { OwnedScopes } from "./owned_scopes.ts";

/** How long the chat platform may take. After that, what only it knows is unknown. */
const platformTimeout = "2 seconds";

/** Unknown values are null. */
export interface CommunityState {
  readonly scope: DataScope;
  readonly pid: Pid;
  /** Null for a shared list with several communities or without any. */
  readonly guildId: GuildId | null;
  readonly bot: boolean | null;
  readonly rights: { readonly roles: boolean | null; readonly nicknames: boolean | null };
  /** The number of links, which may be a minute old. */
  readonly linked: number;
  readonly members: number | null;
  /** `none` if no rules give a role or a nickname. */
  readonly rules: "on" | "paused" | "none";
  /** Why the service paused the rules; null while they are on, and if somebody paused them. */
  readonly pausedFor: PauseReason | null;
  readonly logChannelId: string | null;
  /** The panel that was posted last. */
  readonly panel: Pick<Panel, "channelId" | "messageId"> | null;
  /** When all members were compared with the rules last. */
  readonly lastSweepAt: Millis | null;
  /** How many kinds of changes the bot could not make. */
  readonly problems: number;
  /** How many new links resemble others, and wait for a decision. */
  readonly likelyAlts: number;
  readonly settings: ScopeSettings;
}

/** Returns a function that finds the state of a community. It fails as `OwnedScopes.find` does. @internal */
export const makeCommunityState = Effect.gen(function* () {
  const scopes = yield* OwnedScopes;
  const plans = yield* RolePlanStore;
  const communities = yield* CommunityStore;
  const altsOf = yield* makeAltQueue;
  const { joinedGuilds, roles } = yield* ChatPlatform;

  const unknown = { bot: null, rights: { roles: null, nicknames: null }, members: null };

  const atPlatform = Effect.fnUntraced(
    function* (guildId: GuildId) {
      if (!(yield* joinedGuilds([guildId])).has(guildId))
        return { bot: false, rights: { roles: false, nicknames: false }, members: null };
      const guild = roles === undefined ? Option.none() : yield* roles.findGuildRoles(guildId);
      if (Option.isNone(guild)) return { ...unknown, bot: true };
      const { rights, memberCount, roles: listed } = guild.value;
      const mayGive = rights?.roles ?? (listed.length === 0 ? null : listed.some((role) => role.assignable));
      const mayRename = rights?.nicknames ?? null;
      return { bot: true, rights: { roles: mayGive, nicknames: mayRename }, members: memberCount };
    },
    Effect.timeout(platformTimeout),
    Effect.orElseSucceed(() => unknown),
  );

  const rulesIn = Effect.fnUntraced(function* (pid: Pid, guildId: GuildId) {
    const place = { pid, guildId };
    const plan = Option.getOrNull(yield* plans.find(place));
    const community = Option.getOrNull(yield* communities.find(place));
    const { sweptAt, problems } = yield* plans.status(place);
    const panel = community?.panels.at(-1) ?? null;
    const rules = plan !== null && givesSomething(plan) ? plan.state : ("none" as const);
    return {
      rules,
      pausedFor: rules === "paused" ? (community?.paused?.why ?? null) : null,
      logChannelId: community?.logChannelId ?? null,
      panel: panel && { channelId: panel.channelId, messageId: panel.messageId },
      lastSweepAt: sweptAt,
      problems: problems.length,
    };
  });

  const noRules = {
    rules: "none" as const,
    pausedFor: null,
    logChannelId: null,
    panel: null,
    lastSweepAt: null,
    problems: 0,
  };

  return Effect.fn("communityState")(function* (manager: Manager, named: string) {
    const { scope, settings } = yield* scopes.configured(manager, named);
    const { pid } = scope;
    const listed = guildOf(scope) === null ? yield* communities.list(pid) : [];
    const guildId = guildOf(scope) ?? (listed.length === 1 ? (listed[0]?.guildId ?? null) : null);
    return {
      scope,
      pid,
      guildId,
      linked: yield* scopes.counts.recentOf(pid),
      ...(guildId === null ? unknown : yield* atPlatform(guildId)),
      ...(guildId === null ? noRules : yield* rulesIn(pid, guildId)),
      likelyAlts: countUndecided(yield* altsOf(scope)),
      settings,
    } satisfies CommunityState;
  });
});
