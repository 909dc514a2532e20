/**
 * The nicknames that members had before a plan gave them others. They are kept for 30 days, as a list to download, and
 * can be put back.
 */
import { Clock, Effect, Option } from "effect";
import type { WriteOrigin } from "../audit/audit.ts";
import { placeOf, type ScopedGuild } from "../communities/mod.ts";
import { InvalidParameter } from "../errors.ts";
import type { ChatId } from "../ids.ts";
import { shownNickname } from "./kept_nickname.ts";
import { templatesOf } from "./role_plan.ts";
import { type PlanPlace, type ReplacedNickname, RolePlanStore } from "./role_plan_store.ts";

export interface NicknameBefore extends ReplacedNickname {
  /** Null if the plan has taken it back, because the link went. */
  readonly given: string | null;
}

export const makeReplacedNicknames = Effect.gen(function* () {
  const store = yield* RolePlanStore;

  /** Whether the rules are on and would set nicknames again. */
  const setsNicknames = (place: PlanPlace) =>
    Effect.map(store.find(place), (plan) =>
      Option.exists(plan, (found) => found.state === "on" && templatesOf(found).length > 0),
    );

  const page = Effect.fnUntraced(function* (place: PlanPlace, after: ChatId | null, limit: number) {
    const kept = yield* store.keptNicknames(place, after, limit);
    const chatIds = kept.map(({ chatId }) => chatId);
    const given = yield* store.nicknames(place, chatIds);
    return kept.map((replaced): NicknameBefore => {
      const stored = given.get(replaced.chatId);
      return { ...replaced, given: stored === undefined ? null : shownNickname(stored) };
    });
  });

  return { setsNicknames, page };
});

/** What the team of a community does with the nicknames from before. */
export const makeNicknamesBefore = Effect.gen(function* () {
  const store = yield* RolePlanStore;
  const { page, setsNicknames } = yield* makeReplacedNicknames;

  return {
    /** Returns up to `limit` nicknames of members after a chat ID, sorted by chat ID as strings. */
    nicknamesBefore: (guild: ScopedGuild, after: ChatId | null, limit: number) =>
      page(placeOf(guild), after, limit),

    countNicknamesBefore: (guild: ScopedGuild) => store.countNicknames(placeOf(guild)),

    /**
     * Has all nicknames put back in the background, at most ten a second, over restarts. Members whose nickname has
     * changed since keep it. Fails while the rules that are on would set nicknames again.
     */
    putNicknamesBack: Effect.fn("RolePlans.putNicknamesBack")(function* (
      guild: ScopedGuild,
      origin: WriteOrigin,
    ) {
      const place = placeOf(guild);
      if (yield* setsNicknames(place)) {
        return yield* InvalidParameter.one("nickname", { is: "nicknames_off" });
      }
      yield* store.putNicknamesBack({ ...origin, ...place, at: yield* Clock.currentTimeMillis });
    }),

    /** Whether nicknames are being put back now. */
    isPuttingBack: ({ scope, guildId }: ScopedGuild) =>
      Effect.map(store.puttingBack(), (all) =>
        all.some((plan) => plan.scope.pid === scope.pid && plan.guildId === guildId),
      ),
  };
});
