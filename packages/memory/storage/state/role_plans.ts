import type { ChatId, GuildId, Pid } from "@accountlink/core";
import type { PlanProblem, PlanSettings, Sweep } from "@accountlink/core/roles";
import type { Millis } from "@accountlink/core/timestamp";

/** A member with a pending change of roles, or with a nickname that the plan set. */
export interface PlanMember {
  readonly mark: number;
  /** The pending change; null for none. */
  readonly waits: { readonly since: Millis; readonly dueAt: Millis } | null;
  readonly nickname: string | null;
}

/** A role plan with its progress. */
export interface MemoryPlan {
  readonly pid: Pid;
  readonly guildId: GuildId;
  readonly settings: PlanSettings;
  readonly position: number;
  readonly revision: number;
  readonly sweptAt: Millis | null;
  readonly sweep: (Sweep & { readonly startedAt: Millis }) | null;
  /** The node that works on the plan; null for none. */
  readonly holder: string | null;
  readonly members: Map<ChatId, PlanMember>;
  readonly problems: Map<ChatId, ReadonlyArray<PlanProblem>>;
}
