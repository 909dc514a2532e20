import { Effect } from "effect";
import type { ChatId } from "../ids.ts";
import type { Millis } from "../timestamp.ts";
import { type KeptRoleChange, RoleHistoryStore } from "./role_history_store.ts";
import type { PlanSettings } from "./role_plan.ts";
import type { PlanPlace } from "./role_plan_store.ts";

/** How many changes of a role one read takes. */
const pageSize = 1_000;

type InTurn = <A, E>(step: Effect.Effect<A, E>) => Effect.Effect<A, E>;

/**
 * Finds the members who got roles by the rules. The platform may have taken a role since, or the member has left. Each
 * page is read in a turn of the account.
 */
export const makeGivenMembers = Effect.gen(function* () {
  const history = yield* RoleHistoryStore;

  /** Returns the members who got a role since a time and did not lose it by the rules. */
  const givenMembers = Effect.fnUntraced(function* (
    place: PlanPlace,
    roleId: string,
    since: Millis,
    inTurn: InTurn,
  ) {
    const members = new Set<ChatId>();
    let from = { at: since, number: 0 };
    let page: ReadonlyArray<KeptRoleChange>;
    do {
      page = yield* inTurn(history.toReverse({ ...place, roleId, change: "gave", ...from }, pageSize));
      for (const { chatId } of page) members.add(chatId);
      from = page.at(-1) ?? from;
    } while (page.length === pageSize);
    return members;
  });

  return {
    givenMembers,

    /** Returns these members for each role that the settings do not name. */
    givenUnnamed: Effect.fnUntraced(function* (
      place: PlanPlace,
      { rules }: Pick<PlanSettings, "rules">,
      inTurn: InTurn,
    ) {
      const unnamed = new Map<string, ReadonlySet<ChatId>>();
      for (const { roleId } of yield* history.countByRole(place, "gave", 0))
        if (!rules.some((rule) => rule.roleId === roleId))
          unnamed.set(roleId, yield* givenMembers(place, roleId, 0, inTurn));
      return unnamed;
    }),
  };
});
