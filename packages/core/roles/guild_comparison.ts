/**
 * Compares the members of a guild with a plan, and changes nothing. A preview shows what it found, and a sweep changes
 * the found members.
 */
import { Clock, Effect } from "effect";
import { placeOf } from "../communities/community.ts";
import { PlatformUnavailable } from "../errors.ts";
import type { ChatId } from "../ids.ts";
import { forEachLimited } from "../limited_loops.ts";
import { LinkStore } from "../links/link_store.ts";
import type { RoleMember } from "../platforms/chat_platform.ts";
import type { Millis } from "../timestamp.ts";
import { AnswerSources } from "./answer_sources.ts";
import type { Comparison } from "./applied_changes.ts";
import { makeGroupRoles } from "./group_roles.ts";
import { type StoredMember, storedMember } from "./member_changes.ts";
import { MemberSync } from "./member_sync.ts";
import type { RolePlan } from "./role_plan.ts";
import { RolePlanStore } from "./role_plan_store.ts";

/** The number of members that are compared concurrently. */
const concurrency = 4;

export interface ComparedMember {
  readonly member: RoleMember;
  readonly stored: StoredMember;
  readonly changes: Comparison;
}

interface ComparisonOptions {
  /** How many members of the guild are compared, about. */
  readonly members: number;
  /** How long a source that answered before is waited for, in milliseconds. */
  readonly longestWait: Millis;
  /** Whether the comparison must stop. */
  readonly isOver: Effect.Effect<boolean>;
}

export const makeGuildComparisons = Effect.gen(function* () {
  const links = yield* LinkStore;
  const store = yield* RolePlanStore;
  const sync = yield* MemberSync;
  const groupRolesOf = yield* makeGroupRoles;

  /** Returns what the stores know of members. */
  const storedOf = Effect.fnUntraced(function* (plan: RolePlan, chatIds: ReadonlyArray<ChatId>) {
    const [records, nicknames] = yield* Effect.zip(
      links.findByChatIds(plan.scope.pid, chatIds),
      store.nicknames(placeOf(plan), chatIds),
      { concurrent: true },
    );
    const stored = yield* Effect.forEach(chatIds, (chatId) =>
      Effect.map(
        sync.storedOf(plan, chatId, records.get(chatId), nicknames.get(chatId)),
        (found) => [chatId, found] as const,
      ),
    );
    const all = new Map(stored);
    return (chatId: ChatId) => all.get(chatId) ?? storedMember(undefined);
  });

  /** Begins a comparison, and reads the members of groups if that takes fewer requests. */
  const begin = Effect.fnUntraced(function* (
    plan: RolePlan,
    { members, longestWait, isOver }: ComparisonOptions,
  ) {
    const groupRoles = yield* groupRolesOf(plan, members, isOver);
    const sources = new AnswerSources(longestWait);

    /** Fails if a platform is away that answered before, so that these members are compared again. */
    const compare = Effect.fnUntraced(function* (slice: ReadonlyArray<RoleMember>) {
      const chatIds = slice.map(({ chatId }) => chatId);
      const storedFor = yield* storedOf(plan, chatIds);
      const compared = yield* forEachLimited(slice, concurrency, (member) => {
        const stored = storedFor(member.chatId);
        return Effect.map(
          sync.compare(plan, member, stored, groupRoles, sources),
          (changes): ComparedMember => ({ member, stored, changes }),
        );
      });
      if (!sources.isAwaited(yield* Clock.currentTimeMillis)) return compared;
      return yield* new PlatformUnavailable({ operation: "GamePlatform" });
    });
    return { sources, compare };
  });
  return { begin, storedOf };
});
