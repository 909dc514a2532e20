/** Compares all members of a guild with the settings of a plan in the background, and changes nothing. */

import { Array, Clock, Effect, Fiber, FiberMap, Option, Schedule, Semaphore, Struct } from "effect";
import { Forbidden } from "../errors.ts";
import type { ChatId } from "../ids.ts";
import { forEachLimited } from "../limited_loops.ts";
import { LinkStore } from "../links/link_store.ts";
import type { RoleMember } from "../platforms/chat_platform.ts";
import { IsBackground, PlatformRefusals } from "../platforms/platform_refusals.ts";
import type { Millis } from "../timestamp.ts";
import { newUlid } from "../ulid.ts";
import { makeGroupRoles } from "./group_roles.ts";
import { type Source, storedMember } from "./member_changes.ts";
import { MemberSync, type Sources } from "./member_sync.ts";
import type { PlanPreview } from "./plan_preview.ts";
import { PreviewTally } from "./preview_tally.ts";
import { type RolePlan, settingNames } from "./role_plan.ts";
import { type PlanPlace, RolePlanStore } from "./role_plan_store.ts";

/** How many previews of a node run at once; further ones wait. */
const mostAtOnce = 2;

/** How many members are compared together, and how many of them concurrently. */
const [partSize, concurrency] = [50, 4];

/** The pause after every part, in milliseconds. It keeps a preview from delaying lookups. */
const partPause = 20;

/** How often the progress is stored. */
const saveInterval = "1 second";

/** A running preview whose progress is older, in milliseconds, has lost its node. */
const longestSilence = 20_000;

/** After more unanswered questions in a row, a source is not asked any more, and its answers are unknown. */
const mostUnanswered = 20;

const pageRetries = { schedule: Schedule.spaced("2 seconds"), times: 3 };

/** How long the answer to a start waits for the preview, since small guilds take no longer. */
const startWait = "1500 millis";

export const makePlanPreviews = Effect.gen(function* () {
  const store = yield* RolePlanStore;
  const links = yield* LinkStore;
  const sync = yield* MemberSync;
  const { chargeTo } = yield* PlatformRefusals;
  const groupRolesOf = yield* makeGroupRoles;
  const fibers = yield* FiberMap.make<string>();
  const turns = Semaphore.makeUnsafe(mostAtOnce);

  const compareAll = Effect.fnUntraced(function* (
    plan: RolePlan,
    tally: PreviewTally,
    progress: { done: number; total: number },
  ) {
    const { pid } = plan.scope;
    const place = { pid, guildId: plan.guildId };
    const { findGuildRoles, membersPage } = yield* sync.roles;
    const guild = Option.getOrNull(yield* findGuildRoles(plan.guildId));
    if (guild === null) return yield* new Forbidden({ reason: "bot_not_in_guild" });
    progress.total = guild.memberCount;
    const known = yield* groupRolesOf(plan, guild.memberCount, Effect.succeed(false));
    const sources = patientSources();
    let after: ChatId | null = null;
    while (true) {
      const page: ReadonlyArray<RoleMember> = yield* Effect.retry(
        membersPage(plan.guildId, after),
        pageRetries,
      );
      for (const part of Array.chunksOf(page, partSize)) {
        const chatIds = part.map(({ chatId }) => chatId);
        const records = yield* links.findByChatIds(pid, chatIds);
        const nicknames = yield* store.nicknames(place, chatIds);
        const compareOne = (member: RoleMember) => {
          const stored = storedMember(records.get(member.chatId), nicknames.get(member.chatId));
          return Effect.map(sync.compare(plan, member, stored, known, sources), (changes) =>
            tally.add(member, stored, changes),
          );
        };
        yield* forEachLimited(part, compareOne, { concurrency, discard: true });
        progress.done += part.length;
        yield* Effect.sleep(partPause);
      }
      const last = page.at(-1);
      if (last === undefined) return;
      after = last.chatId;
    }
  });

  const run = Effect.fnUntraced(function* (plan: RolePlan, started: PlanPreview) {
    const tally = new PreviewTally(plan);
    const progress = { done: 0, total: 0 };
    const save = Effect.fnUntraced(function* (state: PlanPreview["state"]) {
      const total = Math.max(progress.done, progress.total);
      const preview = { ...started, ...progress, total, ...tally.counts, state };
      const place = { pid: plan.scope.pid, guildId: plan.guildId };
      return yield* store.savePreview({ ...place, preview, at: yield* Clock.currentTimeMillis });
    });
    // Ends when another preview has replaced this one, and interrupts it.
    const saving = save("running").pipe(
      Effect.orElseSucceed(() => true),
      Effect.delay(saveInterval),
      Effect.repeat({ while: (isCurrent) => isCurrent }),
      Effect.as(null),
    );
    const comparing = Effect.match(turns.withPermits(1)(compareAll(plan, tally, progress)), {
      onSuccess: () => "done" as const,
      onFailure: () => "failed" as const,
    });
    const end = yield* Effect.raceFirst(
      chargeTo(plan.scope.account)(Effect.provideService(comparing, IsBackground, true)),
      saving,
    );
    if (end !== null) yield* Effect.ignore(save(end));
  });

  const find = Effect.fnUntraced(function* (place: PlanPlace) {
    const stored = Option.getOrNull(yield* store.findPreview(place));
    if (stored === null) return null;
    const isLost = isSilent(stored.savedAt, yield* Clock.currentTimeMillis);
    const { preview } = stored;
    return preview.state === "running" && isLost ? { ...preview, state: "failed" as const } : preview;
  });

  return {
    /** Returns the last preview of a guild's plan, on whichever node it runs; null without one. */
    find,

    /** Starts a preview of the settings, which replaces an earlier one, and waits for a moment until it ends. */
    start: Effect.fn("PlanPreviews.start")(function* (plan: RolePlan) {
      const at = yield* Clock.currentTimeMillis;
      const place = { pid: plan.scope.pid, guildId: plan.guildId };
      const preview: PlanPreview = {
        id: newUlid(at),
        settings: Struct.pick(plan, settingNames),
        state: "running",
        done: 0,
        total: 0,
        ...new PreviewTally(plan).counts,
      };
      yield* store.startPreview({ ...place, preview, at });
      // Members without a link are counted as if they lost their roles, so that the owner can choose.
      const fiber = yield* FiberMap.run(
        fibers,
        `${place.pid} ${place.guildId}`,
        run({ ...plan, unlinked: "remove" }, preview),
      );
      yield* Effect.ignore(Effect.timeout(Effect.exit(Fiber.join(fiber)), startWait));
      return (yield* find(place)) ?? preview;
    }),
  };
});

const patientSources = (): Sources => {
  const missed = new Map<Source, number>();
  return {
    isOpen: (source) => (missed.get(source) ?? 0) <= mostUnanswered,
    note: (source, isAnswered) => missed.set(source, isAnswered ? 0 : (missed.get(source) ?? 0) + 1),
    missing: new Set(),
  };
};

const isSilent = (savedAt: Millis, now: Millis): boolean => now - savedAt > longestSilence;
