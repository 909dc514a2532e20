import { Effect, Option } from "effect";
import { makeOwnersOfKey } from "../accounts/managing_keys.ts";
import type { WriteOrigin } from "../audit/audit.ts";
import { Forbidden, InvalidParameter } from "../errors.ts";
import { ChatId, type GuildId } from "../ids.ts";
import { KeyStore } from "../keys/key_store.ts";
import { MemberSync } from "./member_sync.ts";
import type { ChosenSettings } from "./role_plan.ts";

/** The roles of a guild, and which of them the bot and those who act may give. */
export const makeGivenRoles = Effect.gen(function* () {
  const members = yield* MemberSync;
  const keys = yield* KeyStore;
  const ownersOfKey = yield* makeOwnersOfKey;

  const guildRoles = Effect.fn("RolePlans.guildRoles")(function* (guildId: GuildId) {
    const { findGuildRoles } = yield* members.roles;
    const found = yield* findGuildRoles(guildId);
    if (Option.isNone(found)) return yield* new Forbidden({ reason: "bot_not_in_guild" });
    return found.value.roles;
  });

  /**
   * Returns on whose behalf a plan is saved: the member, or the owners with whose rights a key acts. Null for the
   * operator, and for keys of the operator's own accounts.
   */
  const saversOf = Effect.fnUntraced(function* ({ actor }: Pick<WriteOrigin, "actor">) {
    if (actor.type === "account") return [ChatId.make(actor.member)];
    if (actor.type !== "key") return null;
    const key = Option.getOrNull(yield* keys.findById(actor.id));
    return key === null ? yield* new Forbidden({ reason: "key_access" }) : yield* ownersOfKey(key);
  });

  /**
   * Returns a test of whether the chat platform would let one of those who act give a role. Otherwise a manager could
   * become an administrator by a rule.
   */
  const nameableFor = Effect.fnUntraced(function* (guildId: GuildId, origin: Pick<WriteOrigin, "actor">) {
    const { findNameable } = yield* members.roles;
    const savers = yield* saversOf(origin);
    if (savers === null || findNameable === undefined) return () => true;
    const nameable = yield* Effect.forEach(savers, (chatId) => findNameable(guildId, chatId));
    return (roleId: string) => nameable.some((roles) => roles.has(roleId));
  });

  /** Fails unless those who save a plan may give each role of its rules, and each role that it takes. */
  const requireNameable = Effect.fnUntraced(function* (
    guildId: GuildId,
    { rules, take = [] }: Pick<ChosenSettings, "rules" | "take">,
    origin: Pick<WriteOrigin, "actor">,
  ) {
    if (rules.length + take.length === 0) return;
    const isNameable = yield* nameableFor(guildId, origin);
    for (const [name, roleIds] of [
      ["rules", rules.map(({ roleId }) => roleId)],
      ["take", take],
    ] as const) {
      const role = roleIds.find((roleId) => !isNameable(roleId));
      if (role !== undefined) return yield* InvalidParameter.one(name, { is: "own_role", role });
    }
  });

  /** Returns the roles that the bot, and those who act, may give. */
  const givableRoles = Effect.fnUntraced(function* (guildId: GuildId, origin: WriteOrigin) {
    const isNameable = yield* nameableFor(guildId, origin);
    const roles = (yield* guildRoles(guildId)).filter(({ id, assignable }) => assignable && isNameable(id));
    return roles.map(({ id }) => id);
  });

  return {
    guildRoles,
    requireNameable,
    givableRoles,
  };
});
