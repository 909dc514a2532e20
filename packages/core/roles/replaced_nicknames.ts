/**
 * The nicknames that members had before a plan gave them others. They are kept for 30 days, as a list to download, and
 * can be put back.
 */
import { Effect, FiberMap, Option } from "effect";
import type { DataScope } from "../data_scope.ts";
import { InvalidParameter, type PlatformEffect } from "../errors.ts";
import type { ChatId, GuildId } from "../ids.ts";
import type { ChatRoles } from "../platforms/chat_platform.ts";
import { ChargedAccount, IsBackground, PlatformRefusals } from "../platforms/platform_refusals.ts";
import { shownNickname } from "./kept_nickname.ts";
import { patientSteps } from "./patient_steps.ts";
import { templatesOf } from "./role_plan.ts";
import { type PlanPlace, type ReplacedNickname, RolePlanStore } from "./role_plan_store.ts";

const pageSize = 200;

/** The time between two changes, in milliseconds: a sweep makes no more either. */
const changeInterval = 100;

/** How long the platform or the store may be away before the work ends. The owner can start it again. */
const longestWait = 3_600_000;

/** A nickname from before, and the one that the plan gave. */
export interface NicknameBefore extends ReplacedNickname {
  /** Null if the plan has taken it back, because the link went. */
  readonly given: string | null;
}

const nameOf = ({ pid, guildId }: PlanPlace): string => `${pid} ${guildId}`;

/** @param rolesOf the chat platform's operations on roles */
export const makeReplacedNicknames = Effect.fnUntraced(function* (rolesOf: PlatformEffect<ChatRoles>) {
  const store = yield* RolePlanStore;
  const { chargeTo } = yield* PlatformRefusals;
  const fibers = yield* FiberMap.make<string>();

  const setsNicknames = (place: PlanPlace) =>
    Effect.map(store.find(place), (plan) =>
      Option.exists(plan, (found) => found.state === "on" && templatesOf(found).length > 0),
    );

  /** Returns nicknames of members after a chat ID, with those that the plan gave. */
  const page = Effect.fnUntraced(function* (place: PlanPlace, after: ChatId | null, limit: number) {
    const kept = yield* store.keptNicknames(place, after, limit);
    const given = yield* store.nicknames(
      place,
      kept.map(({ chatId }) => chatId),
    );
    return kept.map((replaced): NicknameBefore => {
      const stored = given.get(replaced.chatId);
      return { ...replaced, given: stored === undefined ? null : shownNickname(stored) };
    });
  });

  const putBackAll = Effect.fnUntraced(function* (place: PlanPlace) {
    const { guildId } = place;
    const steps = patientSteps("Cannot put nicknames back", (failingFor) =>
      failingFor > longestWait
        ? Effect.succeed(true)
        : Effect.orElseSucceed(setsNicknames(place), () => false),
    );
    const { findMember, setNickname } = yield* steps.step(rolesOf);

    /** Puts a nickname back, unless the member has another one than the plan gave. */
    const putBack = Effect.fnUntraced(function* ({ chatId, nickname, given }: NicknameBefore) {
      // Not charged: who has left the guild is answered with 404.
      const found = Effect.provideService(findMember(guildId, chatId), ChargedAccount, null);
      const member = Option.getOrNull(yield* found);
      if (member !== null && member.nickname === given && given !== nickname) {
        yield* Effect.sleep(changeInterval);
        // The platform's own rules may refuse it, as for members above the bot.
        yield* Effect.catchTag(setNickname(guildId, chatId, nickname), "RoleRefused", () => Effect.void);
      }
      yield* store.dropNickname(place, chatId);
    });

    let after: ChatId | null = null;
    while (true) {
      const members: ReadonlyArray<NicknameBefore> = yield* steps.step(page(place, after, pageSize));
      for (const member of members) yield* steps.step(putBack(member));
      after = members.at(-1)?.chatId ?? null;
      if (after === null) return;
    }
  });

  return {
    /** Returns up to `limit` nicknames of members after a chat ID, sorted by chat ID as strings. */
    nicknamesBefore: ({ pid }: DataScope, guildId: GuildId, after: ChatId | null, limit: number) =>
      page({ pid, guildId }, after, limit),

    /**
     * Puts all nicknames back in the background, at most ten a second. Members whose nickname has changed since keep it.
     * If the process ends, another call goes on. Fails while the rules that are on would set nicknames again.
     */
    putNicknamesBack: Effect.fn("RolePlans.putNicknamesBack")(function* (
      { pid, account }: DataScope,
      guildId: GuildId,
    ) {
      const place = { pid, guildId };
      if (yield* setsNicknames(place)) {
        return yield* InvalidParameter.one("nickname", { is: "nicknames_off" });
      }
      const work = Effect.ignore(
        chargeTo(account)(Effect.provideService(putBackAll(place), IsBackground, true)),
      );
      yield* FiberMap.run(fibers, nameOf(place), work, { onlyIfMissing: true });
    }),

    /** Whether this node puts nicknames back now. */
    isPuttingBack: ({ pid }: DataScope, guildId: GuildId) => FiberMap.has(fibers, nameOf({ pid, guildId })),
  };
});
