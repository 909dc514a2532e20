/** Compares all members of a guild with the settings of a plan in the background, and changes nothing. */
import { Clock, Effect, Exit, Fiber, FiberMap, Option, Struct } from "effect";
import { placeOf } from "../communities/community.ts";
import { Forbidden } from "../errors.ts";
import type { ChatId } from "../ids.ts";
import { PlatformRefusals, type RoleMember, Urgency } from "../platforms/mod.ts";
import type { Millis } from "../timestamp.ts";
import { Turns, uncounted } from "../turns/mod.ts";
import { newUlid } from "../ulid.ts";
import { makeGivenMembers } from "./given_members.ts";
import { type ComparedMember, makeGuildComparisons } from "./guild_comparison.ts";
import { MemberSync } from "./member_sync.ts";
import { walkMembers } from "./member_walk.ts";
import { patientSteps } from "./patient_steps.ts";
import type { PlanPreview } from "./plan_preview.ts";
import { mostPreviewMembers, PreviewStore } from "./preview_store.ts";
import { PreviewTally, previewedRoles } from "./preview_tally.ts";
import { type RolePlan, settingNames } from "./role_plan.ts";
import type { PlanPlace } from "./role_plan_store.ts";

/** How many slices of members a node compares at once for previews. Accounts take turns after each slice. */
const mostAtOnce = 2;

/** How often the progress is stored. */
const saveInterval = "1 second";

/** A running preview whose progress is older, in milliseconds, has lost its node. */
const longestSilence = 20_000;

/** How long a preview waits for a platform that is away, in milliseconds. */
const longestWait = 600_000;

/** The pause before members with unknown answers are compared again. */
const askingAgain = "5 seconds";

/** After so many comparisons in a row without an answer, unknown changes stay unknown. */
const mostInVain = 6;

/** How long the answer to a start waits for the preview, since small guilds take no longer. */
const startWait = "1500 millis";

/** How far a preview is. */
interface Progress {
  done: number;
  total: number;
  /** The members who are not counted yet, because some answers about them are unknown. */
  readonly unknown: Set<ChatId>;
}

const isUnknown = ({ changes }: ComparedMember): boolean => changes.held.length > 0;

/** @internal */
export const makePlanPreviews = Effect.gen(function* () {
  const previews = yield* PreviewStore;
  const sync = yield* MemberSync;
  const { chargeTo } = yield* PlatformRefusals;
  const comparisons = yield* makeGuildComparisons;
  const { givenUnnamed } = yield* makeGivenMembers;
  const fibers = yield* FiberMap.make<string, PlanPreview | null>();
  const turns = new Turns({ resource: "previews", places: mostAtOnce });

  /** Compares everybody, asks again for members with unknown answers, and in the end counts their known changes. */
  const compareAll = Effect.fnUntraced(function* (
    plan: RolePlan,
    preview: string,
    tally: PreviewTally,
    progress: Progress,
  ) {
    const { guildId } = plan;
    let room = mostPreviewMembers;

    /** Lists the members whose roles would change, and then counts them: a slice that fails is compared again. */
    const count = Effect.fnUntraced(function* (compared: ReadonlyArray<ComparedMember>) {
      const changed = compared.flatMap((each) =>
        previewedRoles(each).map((role) => ({ ...role, preview, chatId: each.member.chatId })),
      );
      yield* previews.add(placeOf(plan), changed.slice(0, room), yield* Clock.currentTimeMillis);
      room = Math.max(0, room - changed.length);
      for (const each of compared) tally.add(each);
    });

    const { unknown } = progress;
    const roles = yield* sync.roles;
    const steps = patientSteps("Cannot compare the members of a guild", (failingFor) =>
      Effect.succeed(failingFor > longestWait),
    );
    const guild = Option.getOrNull(yield* steps.step(roles.findGuildRoles(guildId)));
    if (guild === null) return yield* new Forbidden({ reason: "bot_not_in_guild" });
    progress.total = guild.memberCount;
    const inTurn = <A, E>(step: Effect.Effect<A, E>) => turns.step(plan.scope.account, step);
    tally.countUnnamed(yield* steps.step(givenUnnamed(placeOf(plan), plan, inTurn)));
    const isOver = Effect.succeed(false);
    const options = { members: guild.memberCount, longestWait, isOver };
    const { compare, sources } = yield* steps.step(comparisons.begin(plan, options));

    const comparing = (slice: ReadonlyArray<RoleMember>) => inTurn(compare(slice));

    yield* walkMembers(roles, {
      guildId,
      after: null,
      steps,
      visit: Effect.fnUntraced(function* (slice) {
        const compared = yield* comparing(slice);
        yield* count(compared.filter((each) => !isUnknown(each)));
        for (const each of compared) if (isUnknown(each)) unknown.add(each.member.chatId);
        progress.done += slice.length;
      }),
    });

    /** Compares the members with unknown answers once more. */
    const compareAgain = (isCounted: (compared: ComparedMember) => boolean) =>
      walkMembers(roles, {
        guildId,
        after: null,
        steps,
        isVisited: ({ chatId }) => unknown.has(chatId),
        visit: Effect.fnUntraced(function* (slice) {
          const compared = (yield* comparing(slice)).filter(isCounted);
          yield* count(compared);
          for (const { member } of compared) unknown.delete(member.chatId);
        }),
      });

    let inVain = 0;
    while (unknown.size > 0 && inVain < mostInVain) {
      const before = unknown.size;
      yield* Effect.sleep(askingAgain);
      sources.reopen();
      yield* compareAgain((compared) => !isUnknown(compared));
      inVain = unknown.size < before ? 0 : inVain + 1;
    }
    sources.closeAll();
    if (unknown.size > 0) yield* compareAgain(() => true);
    unknown.clear();
  });

  /** Returns the preview at its end; null if another has replaced it. */
  const run = Effect.fnUntraced(function* (plan: RolePlan, started: PlanPreview) {
    const tally = new PreviewTally(plan);
    const progress: Progress = { done: 0, total: 0, unknown: new Set() };
    const save = Effect.fnUntraced(function* (state: PlanPreview["state"]) {
      const { done } = progress;
      // The platform's number includes bots and members who have not passed the guild's screening.
      const total = state === "done" ? done : Math.max(done, progress.total);
      const unknown = tally.counts.unknown + progress.unknown.size;
      const preview = { ...started, ...tally.counts, done, total, unknown, state };
      const isCurrent = yield* previews.save({
        ...placeOf(plan),
        preview,
        at: yield* Clock.currentTimeMillis,
      });
      return isCurrent ? preview : null;
    });
    // Ends when another preview has replaced this one, and interrupts it.
    const saving = save("running").pipe(
      Effect.orElseSucceed(() => started),
      Effect.delay(saveInterval),
      Effect.repeat({ while: (saved) => saved !== null }),
      Effect.as(null),
    );
    const comparing = Effect.match(compareAll(plan, started.id, tally, progress), {
      onSuccess: () => "done" as const,
      onFailure: () => "failed" as const,
    });
    const end = yield* Effect.raceFirst(
      chargeTo(plan.scope.account)(Effect.provideService(comparing, Urgency, "background")),
      saving,
    );
    return end === null ? null : yield* Effect.orElseSucceed(save(end), () => null);
  });

  const find = Effect.fnUntraced(function* (place: PlanPlace) {
    const stored = Option.getOrNull(yield* previews.find(place));
    if (stored === null) return null;
    const isLost = isSilent(stored.savedAt, yield* Clock.currentTimeMillis);
    const { preview } = stored;
    return preview.state === "running" && isLost ? { ...preview, state: "failed" as const } : preview;
  });

  return {
    /** Returns members who would gain or lose a role. */
    members: previews.page,

    /** Returns the last preview of a guild's plan, on whichever node it runs; null without one. */
    find,

    /** Starts a preview of the settings, which replaces an earlier one, and waits for a moment until it ends. */
    start: Effect.fn("PlanPreviews.start")(function* (plan: RolePlan) {
      const at = yield* Clock.currentTimeMillis;
      const place = placeOf(plan);
      const preview: PlanPreview = {
        id: newUlid(at),
        settings: Struct.pick(plan, settingNames),
        state: "running",
        done: 0,
        total: 0,
        ...new PreviewTally(plan).counts,
      };
      const earlier = yield* previews.start({ ...place, preview, at });
      // Members without a link are counted as if they lost their roles, so that the owner can choose.
      const fiber = yield* FiberMap.run(
        fibers,
        `${place.pid} ${place.guildId}`,
        run({ ...plan, unlinked: "remove" }, preview),
      );
      if (earlier !== null) yield* previews.drop(place, earlier);
      // The members are compared in turns of their own, and others work meanwhile.
      const ended = yield* uncounted(Effect.timeoutOption(Fiber.await(fiber), startWait));
      if (Option.isSome(ended) && Exit.isSuccess(ended.value) && ended.value.value !== null)
        return ended.value.value;
      return (yield* find(place)) ?? preview;
    }),
  };
});

const isSilent = (savedAt: Millis, now: Millis): boolean => now - savedAt > longestSilence;
