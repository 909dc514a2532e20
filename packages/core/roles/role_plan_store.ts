import { Context, type Effect, type Option } from "effect";
import type { WriteOrigin } from "../audit/audit.ts";
import type { HoldItems } from "../couriers/couriers.ts";
import type { StoreUnavailable } from "../errors.ts";
import type { ChatId, GuildId, Pid } from "../ids.ts";
import type { Millis } from "../timestamp.ts";
import type { PlanProblem, PlanSettings, PlanStatus, RolePlan, Sweep } from "./role_plan.ts";

/** Identifies a plan. */
export interface PlanPlace {
  readonly pid: Pid;
  readonly guildId: GuildId;
}

/** Sorts by scope, then by guild. @internal */
export const placeOrder = (one: PlanPlace, other: PlanPlace): number =>
  one.pid === other.pid ? (one.guildId < other.guildId ? -1 : 1) : one.pid < other.pid ? -1 : 1;

export interface PlanWrite extends WriteOrigin, PlanPlace {
  readonly at: Millis;
}

export interface PutPlan extends PlanWrite {
  readonly settings: PlanSettings;
  /** The end of the scope's feed. A plan that was not on reads only later events; a sweep covers the earlier ones. */
  readonly position: number;
}

/** A write of the node that holds a plan. It changes nothing if another node holds the plan. */
export interface HeldWrite extends PlanPlace {
  readonly node: string;
  readonly at: Millis;
}

/** A plan that a node works on, with its progress. */
export interface HeldPlan extends RolePlan {
  /** All events up to this position have marked their members. */
  readonly position: number;
  readonly sweptAt: Millis | null;
  readonly sweep: Sweep | null;
  /** When the next waiting member is due, or null. */
  readonly nextDueAt: Millis | null;
  /** The time since which the longest waiting member waits, or null. */
  readonly oldestSince: Millis | null;
  /** Increases when the plan changes or a sweep starts. */
  readonly revision: number;
}

export interface MarkMembers extends HeldWrite {
  /** All events up to here are in `chatIds`. */
  readonly position: number;
  /** Members that must be compared. */
  readonly chatIds: ReadonlyArray<ChatId>;
  /** Starts a sweep over so many members, in place of a running one; null starts none. */
  readonly sweepOf: number | null;
}

/** A member that waits to be compared. */
export interface WaitingMember {
  readonly chatId: ChatId;
  /** Increases with every mark, so that a mark during a change is not lost. */
  readonly mark: number;
  /** The time of the oldest unapplied mark. */
  readonly since: Millis;
  /** The nickname that the plan set, or null. */
  readonly nickname: string | null;
}

export interface SettledMember {
  readonly chatId: ChatId;
  /** The mark that was read; null for a member that a sweep or a sync compared. */
  readonly mark: number | null;
  /** When to try again; null if the member is right, or if only problems are left. */
  readonly retryAt: Millis | null;
  /** The nickname that the plan set, or null. */
  readonly nickname: string | null;
  /** Replaces the member's problems. */
  readonly problems: ReadonlyArray<PlanProblem>;
}

export interface SettleMembers extends HeldWrite {
  readonly members: ReadonlyArray<SettledMember>;
  /** The revision of the plan that was applied. */
  readonly revision: number;
  /**
   * The sweep after these members: its progress, `ended`, or null for members outside a sweep. Not stored if the
   * revision changed, because a new sweep has started.
   */
  readonly sweep: Sweep | "ended" | null;
}

/** The stored results for a user in the guild of a plan. */
export interface UserRoles extends PlanPlace {
  /** The nickname that the plan set, or null. */
  readonly nickname: string | null;
  readonly problems: ReadonlyArray<PlanProblem>;
}

/**
 * Stores role plans, the members that wait for their change, and the nodes that work on plans. Every operation is
 * atomic. Deleting the data of a scope keeps its plans. Erasing a user deletes the user's nicknames and problems;
 * erasing the owner of an account deletes its plans. A scope that does not exist is a defect.
 */
export class RolePlanStore extends Context.Service<
  RolePlanStore,
  {
    readonly find: (place: PlanPlace) => Effect.Effect<Option.Option<RolePlan>, StoreUnavailable>;

    /** Returns the plans of a scope, sorted by guild. */
    readonly list: (pid: Pid) => Effect.Effect<ReadonlyArray<RolePlan>, StoreUnavailable>;

    readonly status: (place: PlanPlace) => Effect.Effect<PlanStatus, StoreUnavailable>;

    /**
     * Stores a plan with a `roles.updated` entry if anything changed. A plan that changed and is on gets a sweep of
     * unknown size, whose `total` is 0; a paused plan has none. Returns false if another plan of the guild is on and
     * this one would be.
     */
    readonly put: (write: PutPlan) => Effect.Effect<boolean, StoreUnavailable>;

    /** Pauses a plan that is on, with a `roles.updated` entry. Returns false if no plan is on. */
    readonly pause: (write: PlanWrite) => Effect.Effect<boolean, StoreUnavailable>;

    /** Deletes a plan and its progress, with a `roles.deleted` entry. Returns false if it is unknown. */
    readonly remove: (write: PlanWrite) => Effect.Effect<boolean, StoreUnavailable>;

    /** Starts a sweep of a plan that is on. Returns false if no plan is on. */
    readonly startSweep: (place: PlanPlace, at: Millis) => Effect.Effect<boolean, StoreUnavailable>;

    /**
     * Renews the node's lease, takes plans that are on and that no live node holds, and returns the node's plans that
     * are on and whose accounts are not suspended.
     */
    readonly hold: (hold: HoldItems) => Effect.Effect<ReadonlyArray<HeldPlan>, StoreUnavailable>;

    /** Marks members after reading events. Returns false if another node holds the plan. */
    readonly mark: (write: MarkMembers) => Effect.Effect<boolean, StoreUnavailable>;

    /** Returns the members that are due at a time, the earliest first. */
    readonly due: (
      place: PlanPlace,
      at: Millis,
      limit: number,
    ) => Effect.Effect<ReadonlyArray<WaitingMember>, StoreUnavailable>;

    /** Returns the nicknames that the plan set for these members. */
    readonly nicknames: (
      place: PlanPlace,
      chatIds: ReadonlyArray<ChatId>,
    ) => Effect.Effect<ReadonlyMap<ChatId, string>, StoreUnavailable>;

    /**
     * Stores results. A member stops waiting unless its mark has changed since it was read. The end of a sweep
     * deletes problems from before its start. Returns false if another node holds the plan.
     */
    readonly settle: (write: SettleMembers) => Effect.Effect<boolean, StoreUnavailable>;

    /** Stores the result of a sync, by whichever node. Ignored if the plan is unknown. */
    readonly settleOne: (
      place: PlanPlace,
      member: SettledMember,
      at: Millis,
    ) => Effect.Effect<void, StoreUnavailable>;
  }
>()("@accountlink/core/RolePlanStore") {}
