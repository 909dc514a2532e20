import { Clock, Effect, Result } from "effect";
import { placeOf } from "../communities/community.ts";
import { type PlatformEffect, PlatformUnavailable } from "../errors.ts";
import type { ChatId } from "../ids.ts";
import { ChatPlatform, type RoleRefused } from "../platforms/chat_platform.ts";
import { StorageUse } from "../storage_use.ts";
import { storedNickname } from "./kept_nickname.ts";
import type { MemberChanges } from "./member_changes.ts";
import { type RoleOutcomes, recordedChanges } from "./recorded_changes.ts";
import { type ChangeReason, RoleHistoryStore } from "./role_history_store.ts";
import { type PlanProblem, planProblem, type RolePlan } from "./role_plan.ts";
import { isErasedMark, RolePlanStore } from "./role_plan_store.ts";

/** The time before a member with an unanswered question is compared again, in milliseconds. */
const unansweredRetry = 5_000;

export interface Comparison extends MemberChanges {
  /** Whether a question got no answer, so that the member has to be compared again. Closed sources are not asked. */
  readonly isUnanswered: boolean;
}

/** Makes changes of a member one after another, until one finds that the member has left the guild. */
const oneByOne = (chatId: ChatId, pace: Effect.Effect<void>, outcomes: RoleOutcomes) => {
  const problems: Array<PlanProblem> = [];
  let isMember = true;
  return {
    /** The changes that the platform refused. */
    problems,
    isMember: () => isMember,

    change: Effect.fnUntraced(function* (roleId: string | null, make: PlatformEffect<boolean, RoleRefused>) {
      if (!isMember) return false;
      yield* pace;
      const note = (outcome: boolean | "unknown") => roleId !== null && outcomes.set(roleId, outcome);
      note("unknown");
      const made = yield* Effect.result(make);
      if (Result.isSuccess(made)) {
        note(made.success);
        return (isMember = made.success);
      }
      const { failure } = made;
      if (failure._tag === "PlatformUnavailable") return yield* failure;
      note(false);
      problems.push({ chatId, roleId, reason: failure.reason, at: yield* Clock.currentTimeMillis });
      return false;
    }),
  };
};

/** Changes the roles and nicknames of members. */
export const makeAppliedChanges = Effect.gen(function* () {
  const chatPlatform = yield* ChatPlatform;
  const store = yield* RolePlanStore;
  const history = yield* RoleHistoryStore;
  const { resting } = yield* StorageUse;

  const roles = Effect.suspend(() =>
    chatPlatform.roles === undefined
      ? new PlatformUnavailable({ operation: "ChatPlatform.roles" })
      : Effect.succeed(chatPlatform.roles),
  );

  /**
   * Stores a nickname before it is set, and the one that it replaces. If the platform does not answer, or this node
   * dies, and the link changes before the next try, nothing else tells that the nickname is the plan's.
   */
  const starting = Effect.fnUntraced(function* <E>(
    plan: RolePlan,
    { chatId, replaced, setNickname: { during } }: Pick<MemberChanges, "chatId" | "replaced" | "setNickname">,
    change: Effect.Effect<boolean, E>,
  ) {
    if (during === null) return yield* change;
    const at = yield* Clock.currentTimeMillis;
    const started = { chatId, nickname: during, replaced, at };
    const kept = yield* store.startNickname(placeOf(plan), started);
    const isMade = yield* change;
    if (kept !== null && !isMade) yield* store.dropNickname(placeOf(plan), chatId, kept.earlier);
    return isMade;
  });

  const applyNoting = Effect.fnUntraced(function* (
    plan: RolePlan,
    changes: Comparison,
    pace: Effect.Effect<void>,
    outcomes: RoleOutcomes,
  ) {
    const { chatId, setNickname } = changes;
    const { addRole, removeRole, setNickname: rename } = yield* roles;
    const { problems, isMember, change } = oneByOne(chatId, pace, outcomes);
    const removed = yield* Effect.filter(changes.remove, (roleId) =>
      change(roleId, removeRole(plan.guildId, chatId, roleId)),
    );
    const added = yield* Effect.filter(changes.add, (roleId) =>
      change(roleId, addRole(plan.guildId, chatId, roleId)),
    );
    const { nickname } = changes;
    let kept: string | null = nickname;
    const renaming = Effect.map(
      rename(plan.guildId, chatId, nickname === "" ? null : nickname),
      (renamed) => {
        if (typeof renamed === "boolean") return renamed;
        kept = renamed.nickname;
        return true;
      },
    );
    const { before, after } = setNickname;
    const isRenamed =
      nickname !== null && isMember() && (yield* starting(plan, changes, change(null, renaming)));
    if (isRenamed && changes.isOwn === true) yield* store.dropNickname(placeOf(plan), chatId);
    const renamedTo = isRenamed && after !== null ? storedNickname(after, kept) : after;
    const isSet = nickname === null || isRenamed;
    const at = yield* Clock.currentTimeMillis;
    for (const roleId of changes.withoutItem) problems.push(planProblem("item_unknown", at, roleId));
    return {
      chatId,
      added,
      removed,
      nickname: isRenamed ? nickname : null,
      /** The result to store for the member. A courier replaces the `mark` with the waiting member's mark. */
      settled: {
        chatId,
        mark: null,
        retryAt: isMember() && changes.isUnanswered ? at + unansweredRetry : null,
        nickname: isMember() ? (isSet ? renamedTo : before) : null,
        problems,
      },
    };
  });

  const apply = Effect.fn("MemberSync.apply")(function* (
    plan: RolePlan,
    changes: Comparison,
    because: ChangeReason,
    pace: Effect.Effect<void> = Effect.void,
  ) {
    if (resting() !== null) return yield* new PlatformUnavailable({ operation: "MemberSync.apply" });
    const { chatId, add, remove, setNickname } = changes;
    // An erased user is named nowhere.
    const kept = isErasedMark(setNickname.before)
      ? []
      : [
          ...remove.map((roleId) => ({ roleId, change: "took" as const })),
          ...add.map((roleId) => ({ roleId, change: "gave" as const })),
        ];
    const at = yield* Clock.currentTimeMillis;
    const begun = { ...placeOf(plan), chatId, changes: kept, because, at };
    return yield* recordedChanges(history, begun, (outcomes) => applyNoting(plan, changes, pace, outcomes));
  });

  return { roles, apply };
});
