/** What the rules of a plan did to members, counted by day. */
import { dayMs, type Millis } from "../timestamp.ts";

export interface RoleChanges {
  readonly rolesGiven: number;
  readonly rolesTaken: number;
  readonly nicknamesSet: number;
}

export interface DayOfChanges extends RoleChanges {
  /** The number of days since 1970, in UTC. */
  readonly day: number;
}

/** @internal */
export const noChanges: RoleChanges = { rolesGiven: 0, rolesTaken: 0, nicknamesSet: 0 };

/** How many days are kept and shown, with today. @internal */
export const changeDays = 7;

const dayOf = (at: Millis): number => Math.floor(at / dayMs);

/** @internal */
export const areNone = ({ rolesGiven, rolesTaken, nicknamesSet }: RoleChanges): boolean =>
  rolesGiven + rolesTaken + nicknamesSet === 0;

/** @internal */
export const addChanges = (one: RoleChanges, other: RoleChanges): RoleChanges => ({
  rolesGiven: one.rolesGiven + other.rolesGiven,
  rolesTaken: one.rolesTaken + other.rolesTaken,
  nicknamesSet: one.nicknamesSet + other.nicknamesSet,
});

/** Counts what was made of a member. Removed nicknames do not count as set. @internal */
export const changesOf = ({
  added,
  removed,
  nickname,
}: Record<"added" | "removed", ReadonlyArray<string>> & {
  readonly nickname: string | null;
}): RoleChanges => ({
  rolesGiven: added.length,
  rolesTaken: removed.length,
  nicknamesSet: nickname === null || nickname === "" ? 0 : 1,
});

/** Adds changes to their day, and drops days that are over. Oldest first. @internal */
export const withChanges = (
  days: ReadonlyArray<DayOfChanges>,
  at: Millis,
  added: RoleChanges,
): ReadonlyArray<DayOfChanges> => {
  const day = dayOf(at);
  const before = days.find((each) => each.day === day) ?? noChanges;
  const others = days.filter((each) => each.day !== day && each.day > day - changeDays);
  return [...others, { day, ...addChanges(before, added) }].toSorted((one, other) => one.day - other.day);
};

/** Returns the changes of the last days. @internal */
export const changesSince = (days: ReadonlyArray<DayOfChanges>, now: Millis): RoleChanges =>
  days.filter(({ day }) => day > dayOf(now) - changeDays).reduce<RoleChanges>(addChanges, noChanges);
