/** A role plan keeps the roles and nicknames of a guild's members equal to the links of a scope. */
import type { DataScope } from "../data_scope.ts";
import type { ChatId, GuildId } from "../ids.ts";
import type { RoleRefusal } from "../platforms/chat_roles.ts";
import type { Millis } from "../timestamp.ts";

/** Which members get a role. `minRank` and `maxRank` are inclusive; null means no bound. */
export type RoleCondition =
  | { readonly is: "linked" }
  | { readonly is: "unlinked" }
  | {
      readonly is: "group";
      readonly groupId: string;
      readonly minRank: number | null;
      readonly maxRank: number | null;
    };

export interface RoleRule {
  readonly roleId: string;
  readonly when: RoleCondition;
}

/** A paused plan changes nothing. */
export type PlanState = "on" | "paused";

/** What an owner chooses. */
export interface PlanSettings {
  readonly rules: ReadonlyArray<RoleRule>;
  /** A template; null leaves nicknames alone. */
  readonly nickname: string | null;
  readonly state: PlanState;
}

/** A plan is identified by its scope and guild. */
export interface RolePlan extends PlanSettings {
  readonly scope: DataScope;
  readonly guildId: GuildId;
}

export interface PlanProblem {
  readonly chatId: ChatId;
  /** Null for the nickname. */
  readonly roleId: string | null;
  readonly reason: RoleRefusal["reason"];
  readonly at: Millis;
}

/** A sweep compares every member of the guild. */
export interface Sweep {
  /** The last compared member; null before the first. */
  readonly after: ChatId | null;
  readonly done: number;
  readonly total: number;
}

export interface PlanStatus {
  /** How many members wait to be changed. */
  readonly pending: number;
  /** When the last sweep ended, or null. */
  readonly sweptAt: Millis | null;
  /** The running sweep, or null. */
  readonly sweep: Sweep | null;
  /** Newest first, at most 50. */
  readonly problems: ReadonlyArray<PlanProblem>;
}
