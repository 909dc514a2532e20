import { Clock, Context, Effect, Layer, Option } from "effect";
import { placeOf } from "../communities/community.ts";
import { Forbidden } from "../errors.ts";
import type { ChatId, GuildId } from "../ids.ts";
import { type LinkRecord, LinkStore } from "../links/mod.ts";
import type { RoleMember } from "../platforms/chat_platform.ts";
import { ChargedAccount } from "../platforms/platform_refusals.ts";
import { type Comparison, makeAppliedChanges } from "./applied_changes.ts";
import { makeLinkedGame, openSources, type Sources } from "./linked_game.ts";
import {
  type GroupRoles,
  isLeftAlone,
  isUndone,
  memberChanges,
  type StoredMember,
  storedMember,
} from "./member_changes.ts";
import { changesOf } from "./role_changes.ts";
import { RoleHistoryStore } from "./role_history_store.ts";
import type { RolePlan } from "./role_plan.ts";
import { RolePlanStore } from "./role_plan_store.ts";
import type { Candidate } from "./rule_kinds.ts";

/** A comparison with what the rules were asked about. */
export interface MemberPreview extends Comparison {
  readonly candidate: Candidate;
}

const unasked = { game: null, isUnanswered: false };

/** Compares members with a plan, and changes their roles and nicknames. @internal */
export class MemberSync extends Context.Service<MemberSync>()("@accountlink/core/MemberSync", {
  make: Effect.gen(function* () {
    const { roles, apply } = yield* makeAppliedChanges;
    const linkedGame = yield* makeLinkedGame;
    const links = yield* LinkStore;
    const store = yield* RolePlanStore;
    const history = yield* RoleHistoryStore;

    const compare = Effect.fnUntraced(function* (
      plan: RolePlan,
      member: RoleMember,
      stored: StoredMember,
      known: GroupRoles = new Map(),
      sources: Sources = openSources(),
    ) {
      const { gameId } = stored;
      const isAsked = gameId !== null && !isLeftAlone(plan, member);
      const { game, isUnanswered } = isAsked
        ? yield* linkedGame(plan, { ...stored, gameId }, known, sources)
        : unasked;
      const at = yield* Clock.currentTimeMillis;
      const candidate = { game, member, unlinkedAt: stored.unlinkedAt, at };
      return {
        ...memberChanges(plan, member, game, stored, at),
        isUnanswered,
        candidate,
      } satisfies MemberPreview;
    });

    const findRecord = (plan: RolePlan, chatId: ChatId) =>
      Effect.map(links.findByChatId(plan.scope.pid, chatId), Option.getOrNull);

    /** Returns what the stores know of a member. */
    const storedOf = Effect.fnUntraced(function* (
      plan: RolePlan,
      chatId: ChatId,
      record: LinkRecord | null | undefined,
      nickname: string | null | undefined,
    ) {
      const found = storedMember(record, nickname ?? null);
      if (record?.gameId !== null || (found.nickname === null && !isUndone(record))) return found;
      const given = isUndone(record) ? yield* history.givenTo(placeOf(plan), chatId) : [];
      const kept = yield* store.keptNickname(placeOf(plan), chatId);
      // Only a link that an undone import made replaces a nickname after the last link has gone.
      const own = kept !== null && kept.at > record.linkedAt ? kept.nickname : undefined;
      return storedMember(record, found.nickname, [...given], own);
    });

    /** @param record the link of the member; undefined for a member whose link is removed */
    const planned = Effect.fnUntraced(function* (
      plan: RolePlan,
      chatId: ChatId,
      record: LinkRecord | null | undefined,
    ) {
      const member = yield* (yield* roles).findMember(plan.guildId, chatId);
      if (Option.isNone(member) || member.value.isPending === true) {
        return yield* new Forbidden({ reason: "user_not_in_guild" });
      }
      const nicknames = yield* store.nicknames(placeOf(plan), [chatId]);
      const stored = yield* storedOf(plan, chatId, record, nicknames.get(chatId));
      return yield* compare(
        plan,
        member.value,
        record === undefined ? { ...stored, wasLinked: true } : stored,
      );
    });

    const syncAs = Effect.fnUntraced(function* (
      plan: RolePlan,
      chatId: ChatId,
      record: LinkRecord | null | undefined,
    ) {
      const applied = yield* apply(plan, yield* planned(plan, chatId, record), "sync");
      const at = yield* Clock.currentTimeMillis;
      yield* store.settleOne(placeOf(plan), applied.settled, at, changesOf(applied));
      return applied;
    });

    const sync = Effect.fn("MemberSync.sync")(function* (plan: RolePlan, chatId: ChatId) {
      while (true) {
        const record = yield* findRecord(plan, chatId);
        const applied = yield* syncAs(plan, chatId, record);
        // If the link has changed since the record was read, a courier may have applied the new link before `syncAs`
        // applied the old link. So sync again.
        const { gameId, proof } = storedMember(yield* findRecord(plan, chatId));
        if (gameId === (record?.gameId ?? null) && proof === (record?.proof ?? null)) return applied;
      }
    });

    return {
      /** The chat platform's operations on roles. Fails for a platform without roles. */
      roles,

      /** Returns a member; null for other users. No account is charged with the 404 for a user outside the guild. */
      findMember: Effect.fnUntraced(function* (guildId: GuildId, chatId: ChatId) {
        const { findMember } = yield* roles;
        const found = Effect.provideService(findMember(guildId, chatId), ChargedAccount, null);
        return Option.getOrNull(yield* found);
      }),

      storedOf,

      /**
       * Returns the changes that the plan requires for a member. Asks for the profile and the items of the game user if
       * the plan needs them.
       *
       * @param known the roles of all members of groups, which are not asked for again
       * @param sources which questions are asked, and which of them were answered
       */
      compare,

      /**
       * Makes changes of one member. A change that the platform refuses is reported as a problem. If the platform fails
       * after some of the changes, the next comparison with the plan finds the remaining ones.
       *
       * @param because the reason to keep in the history of roles
       * @param pace runs before each change
       */
      apply,

      /** Compares the roles and the nickname of a member with the plan, and changes nothing. */
      preview: Effect.fn("MemberSync.preview")(function* (plan: RolePlan, chatId: ChatId) {
        return yield* planned(plan, chatId, yield* findRecord(plan, chatId));
      }),

      /** Like `preview`, of a member whose link would be removed. */
      previewRelease: (plan: RolePlan, chatId: ChatId) => planned(plan, chatId, undefined),

      /** Gives a member the roles and the nickname that the plan wants, and stores the result. */
      sync,

      /** Like `sync`, but treats the member as one whose link was removed. Used before a user is erased. */
      release: (plan: RolePlan, chatId: ChatId) => syncAs(plan, chatId, undefined),
    };
  }),
}) {
  static readonly layer = Layer.effect(MemberSync, MemberSync.make);
}
