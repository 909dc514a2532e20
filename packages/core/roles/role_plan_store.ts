import { Context, type Option } from "effect";
import type { WriteOrigin } from "../audit/audit.ts";
import type { CommunityPlace, PauseReason } from "../communities/community.ts";
import type { StoreEffect } from "../errors.ts";
import type { ChatId, GuildId, Pid } from "../ids.ts";
import type { HoldItems } from "../records/records.ts";
import { dayMs, type Millis } from "../timestamp.ts";
import type { DayOfChanges, RoleChanges } from "./role_changes.ts";
import type { PlanProblem, PlanSettings, PlanStatus, RolePlan, Sweep } from "./role_plan.ts";

/** A community has at most one plan. */
export type PlanPlace = CommunityPlace;

export interface PlanWrite extends WriteOrigin, PlanPlace {
  readonly at: Millis;
}

export interface PutPlan extends PlanWrite {
  readonly settings: PlanSettings;
  /** The settings that were read before, if nobody may have changed them meanwhile. */
  readonly edited?: PlanSettings;
  /** The ID of the preview whose page the write came from. */
  readonly previewed?: string;
  /** As in `StoredPlans.write`. */
  readonly take?: ReadonlyArray<string>;
  /**
   * The end of the scope's event feed at the time of the write. A plan that is turned on reads only later events. It
   * needs no earlier events, because its sweep compares all members.
   */
  readonly position: number;
}

export type PutRefusal = "plan_changed" | "guild_has_plan";

export interface PausePlan extends PlanWrite {
  readonly why: PauseReason;
  /** The problems of the plan for which it is paused. */
  readonly problems?: ReadonlyArray<PlanProblem>;
}

/** A write of the node that holds a plan. It changes nothing if another node holds the plan. */
export interface HeldWrite extends PlanPlace {
  readonly node: string;
  readonly at: Millis;
}

/** A plan that a node works on, with its progress. */
export interface HeldPlan extends RolePlan {
  /** Events up to this position have been read, and the members that these events name are stored as waiting. */
  readonly position: number;
  readonly sweptAt: Millis | null;
  readonly sweep: Sweep | null;
  /** When the next waiting member is due; null if no member waits. */
  readonly nextDueAt: Millis | null;
  /** When the longest waiting member began to wait; null if no member waits. */
  readonly oldestSince: Millis | null;
  /** Increases when the plan changes or a sweep starts. */
  readonly revision: number;
}

export interface MarkMembers extends HeldWrite {
  /** Events up to this position have been read. */
  readonly position: number;
  /** The members that the events name. They must be compared with the plan. */
  readonly chatIds: ReadonlyArray<ChatId>;
  /** The members among them who were erased. They get the mark `erasedLink`, unless a nickname is stored. */
  readonly erased: ReadonlyArray<ChatId>;
  /** Starts a sweep with this `total`, which replaces a running sweep; null starts none. */
  readonly sweepOf: number | null;
}

/** A member that waits to be compared with the plan. */
export interface WaitingMember {
  readonly chatId: ChatId;
  /** Increases with each event that names the member, so that an event during a change of the member is not lost. */
  readonly mark: number;
  /** When the member began to wait for a comparison with the plan. */
  readonly since: Millis;
  /** The nickname that the plan set, or null. */
  readonly nickname: string | null;
}

export interface SettledMember {
  readonly chatId: ChatId;
  /** The `mark` that the member had when it was read; null if a sweep or a sync compared the member. */
  readonly mark: number | null;
  /** When to try the member again; null if the plan wants no change, or only changes that the platform has refused. */
  readonly retryAt: Millis | null;
  /** The nickname that the plan set, or null. */
  readonly nickname: string | null;
  /** The member's problems, which replace the stored ones, and problems of the plan, which are added. */
  readonly problems: ReadonlyArray<PlanProblem>;
}

export interface SettleMembers extends HeldWrite {
  readonly members: ReadonlyArray<SettledMember>;
  /** Problems of the plan. One for each role is kept, the newest. */
  readonly problems?: ReadonlyArray<PlanProblem>;
  /** The `revision` of the plan with which the members were compared. */
  readonly revision: number;
  /**
   * The new progress of the sweep, or `ended`. Null leaves the stored progress unchanged. The progress is not stored if
   * the plan's revision has changed meanwhile, because then a new sweep has started.
   */
  readonly sweep: Sweep | "ended" | null;
  /** What was changed of the members since the last write. */
  readonly changes?: RoleChanges;
}

/**
 * Stored in place of a nickname that an erasure deleted, while the platform still shows it. The next comparison removes
 * whichever nickname the member has. @internal
 */
export const erasedNickname = "";

/**
 * Stored in place of a nickname for an erased user whose roles are still to be removed, where the plan set no nickname.
 * It says that the user was linked, as nothing else does after the erasure. @internal
 */
export const erasedLink = " ";

/** Returns whether something is stored in place of a nickname. @internal */
export const isErasedMark = (nickname: string | null): boolean =>
  nickname === erasedNickname || nickname === erasedLink;

/** A nickname that a plan replaced by its own. */
export interface ReplacedNickname {
  readonly chatId: ChatId;
  /** Null if the member had none. */
  readonly nickname: string | null;
  /** When the plan replaced it. */
  readonly at: Millis;
}

/** A nickname that a plan is about to set. */
export interface StartedNickname {
  readonly chatId: ChatId;
  /** The text to store as the nickname that the plan set. */
  readonly nickname: string;
  /** The nickname of the member's own that it replaces, which is null if the member has none; null if it replaces none. */
  readonly replaced: { readonly nickname: string | null } | null;
  readonly at: Millis;
}

/** How long replaced nicknames are kept, in milliseconds. @internal */
export const replacedTime = 30 * dayMs;

/** The nicknames and the problems that are stored for a user in the guild of a plan. */
export interface UserRoles extends PlanPlace {
  /** The nickname that the plan set, or null. */
  readonly nickname: string | null;
  /** The nickname that the plan replaced lately; null without one. */
  readonly replacedNickname: string | null;
  readonly problems: ReadonlyArray<PlanProblem>;
}

/**
 * Stores role plans, the members that wait to be compared, and the nodes that work on plans. Every operation is atomic.
 * Deleting the data of a scope keeps the scope's plans. Erasing a user deletes the user's problems, and replaces the
 * nicknames of plans that are on by `erasedNickname`.
 * An account whose last owner or admin goes has its plans paused. `put` to an unknown scope is a defect.
 */
export class RolePlanStore extends Context.Service<
  RolePlanStore,
  {
    readonly find: (place: PlanPlace) => StoreEffect<Option.Option<RolePlan>>;

    /** Returns the plan that is on for a guild, also of a suspended account. */
    readonly findOn: (guildId: GuildId) => StoreEffect<Option.Option<RolePlan>>;

    /** Returns the plans of a scope, sorted by guild. */
    readonly list: (pid: Pid) => StoreEffect<ReadonlyArray<RolePlan>>;

    readonly status: (place: PlanPlace) => StoreEffect<PlanStatus>;

    /**
     * Stores a plan with a `roles.updated` entry if anything changed. A plan that is on confirms the preview of its
     * settings, if that is done. A changed plan loses the problems that name no member. A changed plan that is on starts a sweep, with a
     * `total` of 0 because the size of the guild is unknown. A changed plan that is paused ends its sweep. Returns why
     * nothing was stored: `plan_changed` if the stored settings are not the `edited` ones, or `guild_has_plan` if the
     * new plan is on and another plan of the guild is on too. Null if the plan is stored. The community stores when
     * linking was turned on, and who paused it.
     */
    readonly put: (write: PutPlan) => StoreEffect<PutRefusal | null>;

    /** Pauses a plan that is on for the service, with a `roles.updated` entry. Returns false if no plan is on. */
    readonly pause: (write: PausePlan) => StoreEffect<boolean>;

    /**
     * Deletes a plan and its progress, and the settings of its community, with a `roles.deleted` entry. Returns false if
     * both are unknown.
     */
    readonly remove: (write: PlanWrite) => StoreEffect<boolean>;

    /** Starts a sweep of a plan that is on. Returns false if no plan is on. */
    readonly startSweep: (place: PlanPlace, at: Millis) => StoreEffect<boolean>;

    /**
     * Renews the lease of a node. Assigns to the node further plans that are on and that no live node holds. Returns
     * the plans of the node that are on, except the plans of suspended accounts.
     */
    readonly hold: (hold: HoldItems) => StoreEffect<ReadonlyArray<HeldPlan>>;

    /** Adds the members that events name to the waiting members. Returns false if another node holds the plan. */
    readonly mark: (write: MarkMembers) => StoreEffect<boolean>;

    /** Adds a member to the waiting members of the guild's plan that is on, whichever node holds the plan. */
    readonly markMember: (guildId: GuildId, chatId: ChatId, at: Millis) => StoreEffect<void>;

    /** Returns the smallest ID of the live nodes whose IDs begin with `prefix`. */
    readonly firstNode: (prefix: string, at: Millis) => StoreEffect<Option.Option<string>>;

    /** Returns the waiting members that are due at the time `at`, the earliest first. */
    readonly due: (place: PlanPlace, at: Millis, limit: number) => StoreEffect<ReadonlyArray<WaitingMember>>;

    /** Returns the nicknames that the plan set for these members. */
    readonly nicknames: (
      place: PlanPlace,
      chatIds: ReadonlyArray<ChatId>,
    ) => StoreEffect<ReadonlyMap<ChatId, string>>;

    /**
     * Stores the results of comparisons. A member stops waiting if its `retryAt` is null and its stored `mark` still
     * equals the given `mark`. When a sweep ends, the problems from before its start are deleted. Returns false if
     * another node holds the plan.
     */
    readonly settle: (write: SettleMembers) => StoreEffect<boolean>;

    /**
     * Stores, or with null deletes, a problem of the plan as a whole, whichever node holds the plan. Does nothing if the
     * plan is unknown.
     */
    readonly setProblem: (
      place: PlanPlace,
      reason: PlanProblem["reason"],
      at: Millis | null,
    ) => StoreEffect<void>;

    /**
     * Stores the nickname that a plan is about to set, and keeps the one that it replaces. One of the member that is kept
     * already stays, unless the plan's had gone and the member has chosen another one since. Returns the one that was kept
     * earlier if the kept one is of this time, otherwise null. Does nothing if the plan is unknown.
     */
    readonly startNickname: (
      place: PlanPlace,
      started: StartedNickname,
    ) => StoreEffect<{ readonly earlier: ReplacedNickname | null } | null>;

    /** Returns kept nicknames of members after a chat ID, sorted by chat ID as strings. */
    readonly keptNicknames: (
      place: PlanPlace,
      after: ChatId | null,
      limit: number,
    ) => StoreEffect<ReadonlyArray<ReplacedNickname>>;

    /** Returns the kept nickname of a member; null without one. */
    readonly keptNickname: (place: PlanPlace, chatId: ChatId) => StoreEffect<ReplacedNickname | null>;

    /** Forgets the kept nickname of a member, which is back, and keeps an earlier one again. */
    readonly dropNickname: (
      place: PlanPlace,
      chatId: ChatId,
      earlier?: ReplacedNickname | null,
    ) => StoreEffect<void>;

    /** Returns how many nicknames of a plan are kept. */
    readonly countNicknames: (place: PlanPlace) => StoreEffect<number>;

    /**
     * Stores that the kept nicknames are to be put back, with a `nicknames.put_back` entry that has their number. Returns
     * false if they are being put back already, or if the plan is unknown.
     */
    readonly putNicknamesBack: (write: PlanWrite) => StoreEffect<boolean>;

    /** Returns the plans whose nicknames are being put back, sorted by scope and guild. Leaves out suspended accounts. */
    readonly puttingBack: () => StoreEffect<ReadonlyArray<RolePlan>>;

    /** Stores that the nicknames of a plan are no longer to be put back. */
    readonly endPuttingBack: (place: PlanPlace) => StoreEffect<void>;

    /** Forgets the nicknames of all plans that were replaced before a time. */
    readonly forgetNicknames: (before: Millis) => StoreEffect<void>;

    /** Stores the result of a sync, whichever node holds the plan. Does nothing if the plan is unknown. */
    readonly settleOne: (
      place: PlanPlace,
      member: SettledMember,
      at: Millis,
      changes?: RoleChanges,
    ) => StoreEffect<void>;

    /** Returns what the plan changed on each of the last days on which it changed anything, oldest first. */
    readonly changedDays: (place: PlanPlace) => StoreEffect<ReadonlyArray<DayOfChanges>>;
  }
>()("@accountlink/core/RolePlanStore") {}
