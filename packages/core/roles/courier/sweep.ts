/**
 * A sweep compares every member of a guild with the plan, page by page, and then changes those who differ. If too many
 * would lose a role, it changes nobody and pauses the plan. Another node continues with the changes where one stopped;
 * a comparison that was interrupted begins again.
 */

import { Array, Clock, Effect, Equal } from "effect";
import { type CourierNode, isCarrying, retryDelay } from "../../couriers/couriers.ts";
import { PlatformUnavailable, type StoreEffect } from "../../errors.ts";
import type { ChatId } from "../../ids.ts";
import { filterLimited } from "../../limited_loops.ts";
import { LinkStore } from "../../links/link_store.ts";
import type { RoleMember } from "../../platforms/chat_platform.ts";
import { IsBackground } from "../../platforms/platform_refusals.ts";
import { dayMs, type Millis } from "../../timestamp.ts";
import { makeGroupRoles } from "../group_roles.ts";
import { makeGuildCheck } from "../guild_check.ts";
import { type Source, type StoredMember, sourcesOf, storedMember } from "../member_changes.ts";
import { MemberSync } from "../member_sync.ts";
import { PreviewTally } from "../preview_tally.ts";
import type { PlanProblem, Sweep } from "../role_plan.ts";
import { RolePlanStore, type SettledMember, type SettleMembers } from "../role_plan_store.ts";
import type { PlanCourier } from "./plan_courier.ts";
import {
  type Comparison,
  closedSources,
  goneMember,
  isDifferent,
  makeMemberWork,
  nothingLearned,
} from "./plan_courier.ts";

/** The number of members whose links are read together, and the number of members that are compared concurrently. */
const [partSize, concurrency] = [50, 4];

/** The pause after every `partSize` members, in milliseconds. It keeps a sweep from delaying lookups. */
const partPause = 20;

/** How often the progress is saved within a page, in milliseconds. */
const saveInterval = 1_000;

/** The time between two changes that a sweep makes in a guild, in milliseconds. */
const changeInterval = 100;

/** If requests for more than this many members in a row get no answer, the sweep waits for the platform. */
const mostUnanswered = 20;

/** How many members with an unanswered question a sweep remembers. More than it takes to close a source. */
const mostRemembered = 50;

/** How long a node may take to notice that a sweep has started, in milliseconds. */
const rereadTime = 2_000;

/** Whether a sweep of the plan should start or continue now. */
export const isSweepDue = ({ item, sweeping }: PlanCourier, at: Millis): boolean =>
  !sweeping.isRunning && at >= sweeping.nextAt && (item.sweep !== null || isDaily(item.sweptAt, at));

const isDaily = (sweptAt: Millis | null, at: Millis) => sweptAt !== null && at >= sweptAt + dayMs;

export const makeSweep = Effect.gen(function* () {
  const store = yield* RolePlanStore;
  const links = yield* LinkStore;
  const sync = yield* MemberSync;
  const { compare, change } = yield* makeMemberWork;
  const { checkGuild, pauseWithoutBot, pauseBeforeLosses } = yield* makeGuildCheck;
  const groupRolesOf = yield* makeGroupRoles;

  const sweepFrom = Effect.fnUntraced(function* (node: CourierNode, courier: PlanCourier, start: Sweep) {
    const { scope, guildId, revision } = courier.item;
    const place = { pid: scope.pid, guildId };
    const { membersPage } = yield* sync.roles;
    let nextChangeAt = 0;
    let savedAt = yield* Clock.currentTimeMillis;
    let failures = 0;

    const settle = Effect.fnUntraced(function* (
      result: Pick<SettleMembers, "members" | "sweep" | "problems">,
    ) {
      const at = yield* Clock.currentTimeMillis;
      const isHeld = yield* store.settle({ ...place, node: node.id, at, revision, ...result });
      courier.isStopping ||= !isHeld;
      const { item } = courier;
      if (result.sweep === null || item.revision !== revision) return;
      // Update `courier.item` too, because the node rereads its plans from the store only a second later.
      const isEnded = result.sweep === "ended";
      courier.item = { ...item, sweep: isEnded ? null : result.sweep, sweptAt: isEnded ? at : item.sweptAt };
    });

    /** Whether this sweep must stop, because the courier must stop or because the plan's revision has changed. */
    const isOver = Effect.map(
      Clock.currentTimeMillis,
      (now) => !isCarrying(node, courier, now) || courier.item.revision !== revision,
    );

    const memberCount = yield* checkGuild(courier.item);
    if (memberCount === null) return;
    const groupRoles = yield* groupRolesOf(courier.item, memberCount - start.done, isOver);

    const pace = Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis;
      yield* Effect.sleep(Math.max(0, nextChangeAt - now));
      nextChangeAt = Math.max(now, nextChangeAt) + changeInterval;
    });

    /**
     * Runs the work on one member. If the platform does not answer, the sweep continues with other members, and this
     * member is tried again later. If a limit refuses the request, the sweep waits.
     */
    const orLeave = <A>(
      chatId: ChatId,
      { nickname }: StoredMember,
      work: StoreEffect<A, PlatformUnavailable>,
    ) =>
      Effect.matchEffect(work, {
        onSuccess: (done) => {
          failures = 0;
          return Effect.succeed(done);
        },
        onFailure: Effect.fnUntraced(function* (error) {
          const mustWait = error._tag === "StoreUnavailable" || error.retryAfterMs !== undefined;
          if (mustWait || ++failures > mostUnanswered) return yield* error;
          const retryAt = (yield* Clock.currentTimeMillis) + retryDelay(0);
          yield* settle({ members: [{ ...goneMember(chatId), retryAt, nickname }], sweep: null });
          return null;
        }),
      });

    const storedOf = Effect.fnUntraced(function* (chatIds: ReadonlyArray<ChatId>) {
      const records = yield* links.findByChatIds(place.pid, chatIds);
      const nicknames = yield* store.nicknames(place, chatIds);
      return (chatId: ChatId) => storedMember(records.get(chatId), nicknames.get(chatId));
    });

    const { sources, isAway, closedDuring } = sourcesOfSweep(courier);
    const { unanswered: stillWaiting } = courier.sweeping.sources;
    const withoutItem = new Set<string>();

    /** Stores what a comparison found of members with the right roles, unless an event has changed them since. */
    const storeUnchanged = Effect.fnUntraced(function* (
      found: ReadonlyArray<readonly [StoredMember, SettledMember]>,
    ) {
      const storedFor = yield* storedOf(found.map(([, { chatId }]) => chatId));
      const members = found.filter(([stored, { chatId }]) => Equal.equals(storedFor(chatId), stored));
      yield* settle({ members: members.map(([, settled]) => settled), sweep: null });
    });

    /**
     * Compares members with the plan, and returns the members that seem to differ. Members with an unknown answer are
     * tried again later, unless the source answers nobody.
     */
    const differing = Effect.fnUntraced(function* (part: ReadonlyArray<RoleMember>, tally: PreviewTally) {
      const storedFor = yield* storedOf(part.map(({ chatId }) => chatId));
      const unchanged: Array<readonly [StoredMember, SettledMember]> = [];
      const seen: Array<Parameters<PreviewTally["add"]>> = [];
      const found = yield* filterLimited(
        part,
        Effect.fnUntraced(function* (member) {
          const { chatId } = member;
          const stored = storedFor(chatId);
          const comparing = compare(courier.item, member, stored, groupRoles, sources);
          const changes = yield* orLeave(chatId, stored, comparing);
          seen.push([member, stored, changes]);
          if (changes === null) return false;
          for (const roleId of changes.withoutItem) withoutItem.add(roleId);
          if (changes.isUnanswered && stillWaiting.size < mostRemembered) stillWaiting.add(chatId);
          if (isDifferent(changes)) return true;
          const retryAt = changes.isUnanswered ? (yield* Clock.currentTimeMillis) + retryDelay(0) : null;
          const nickname = changes.setNickname.after;
          if (retryAt !== null || nickname !== stored.nickname)
            unchanged.push([stored, { ...goneMember(chatId), retryAt, nickname }]);
          return false;
        }),
        { concurrency },
      );
      if (unchanged.length > 0) yield* courier.turn.withPermit(storeUnchanged(unchanged));
      if (yield* isAway) return yield* new PlatformUnavailable({ operation: "GamePlatform" });
      // Not before, because these members are compared again after a failure.
      for (const each of seen) tally.add(...each);
      return found;
    });

    const endWith = Effect.fnUntraced(function* (
      found: ReadonlyArray<readonly [roleId: string | null, PlanProblem["reason"]]>,
    ) {
      const at = yield* Clock.currentTimeMillis;
      const problems = found.map(([roleId, reason]) => ({ chatId: null, roleId, reason, at }));
      yield* settle({ members: [], sweep: "ended", problems });
    });

    /** Returns a page of members; null if the sweep ends because the platform does not list them. */
    const pageAfter = Effect.fnUntraced(function* (after: ChatId | null) {
      const page = yield* Effect.catchTag(membersPage(guildId, after), "MembersHidden", () =>
        Effect.succeed(null),
      );
      if (page === null && !(yield* pauseWithoutBot(courier.item)))
        yield* endWith([[null, "members_hidden"]]);
      return page;
    });

    /** Saves the progress from time to time, and gives other work a turn. */
    const advance = Effect.fnUntraced(function* (sweep: Sweep, isPageEnd: boolean) {
      courier.sweeping.failingSince = null;
      yield* Effect.sleep(partPause);
      const now = yield* Clock.currentTimeMillis;
      if (now < savedAt + saveInterval && !isPageEnd) return;
      yield* settle({ members: [], sweep });
      savedAt = now;
    });

    /**
     * Compares all members. Returns the members to change; null if the sweep stops, for example because it pauses the
     * plan before too many members lose a role.
     */
    const compareAll = Effect.fnUntraced(function* () {
      const comparison = comparisonOf(courier);
      const { tally, found } = comparison;
      while (!comparison.isChecked) {
        const page = yield* pageAfter(comparison.after);
        if (page === null) return null;
        for (const part of Array.chunksOf(page, partSize)) {
          for (const { chatId } of yield* differing(part, tally)) found.add(chatId);
          if (yield* isOver) return null;
          comparison.after = (part.at(-1) as RoleMember).chatId;
          const done = (comparison.done += part.length);
          const sweep = { after: null, done, total: Math.max(done, memberCount) };
          yield* advance(sweep, part.at(-1) === page.at(-1));
        }
        if (page.length > 0) continue;
        if (yield* pauseBeforeLosses(courier.item, tally)) return null;
        comparison.isChecked = true;
      }
      return found;
    });

    /** Reads the member and the link again, because they may have changed since the page was read. */
    const changeNow = Effect.fnUntraced(function* (chatId: ChatId) {
      const stored = (yield* storedOf([chatId]))(chatId);
      const changing = Effect.gen(function* () {
        const changed = yield* change(courier.item, chatId, stored, { pace, sources });
        if (changed === null && (yield* pauseWithoutBot(courier.item))) return;
        const settled = changed ?? goneMember(chatId);
        // Nothing is stored for a member without problems whose nickname stays the same. The end of the sweep deletes
        // the member's earlier problems.
        const isWaiting = settled.retryAt !== null;
        if (settled.nickname === stored.nickname && settled.problems.length === 0 && !isWaiting) return;
        yield* settle({ members: [settled], sweep: null });
      });
      yield* orLeave(chatId, stored, changing);
    });

    const end = Effect.gen(function* () {
      const closed = closedDuring();
      courier.closed = closedSources(closed);
      // The first of these members goes on asking. The others are done, though they would wait longer for their turn.
      for (const chatId of closed.length > 0 ? stillWaiting : [])
        yield* store.markMember(guildId, chatId, yield* Clock.currentTimeMillis);
      const isClosed = (roleId: string | null) =>
        sourcesOf(courier.item, roleId).some((source) => closed.includes(source));
      const named = [null, ...new Set(courier.item.rules.map(({ roleId }) => roleId))];
      yield* endWith([
        ...Array.map([...withoutItem], (roleId) => [roleId, "item_unknown"] as const),
        ...named.filter(isClosed).map((roleId) => [roleId, "source_closed"] as const),
      ]);
    });

    const waitForReread = Effect.map(Clock.currentTimeMillis, (now) => {
      courier.sweeping.nextAt = now + rereadTime;
    });

    // If another node compared the members and stopped while it changed them, they are compared once more.
    const isCompared = start.after === null || comparisonOf(courier).isChecked;
    const found = isCompared ? yield* compareAll() : undefined;
    if (found === null) return yield* waitForReread;
    if (found?.size === 0) return yield* end;
    const unused = new PreviewTally(courier.item);
    let progress = changesFrom(start, memberCount);
    while (true) {
      const page = yield* pageAfter(progress.after);
      if (page === null) return;
      for (const part of Array.chunksOf(page, partSize)) {
        const changed = found
          ? part.filter(({ chatId }) => found.has(chatId))
          : yield* differing(part, unused);
        for (const { chatId } of changed) {
          if (yield* isOver) return;
          yield* courier.turn.withPermit(changeNow(chatId));
        }
        if (yield* isOver) return;
        const done = progress.done + part.length;
        progress = { after: (part.at(-1) as RoleMember).chatId, done, total: Math.max(done, progress.total) };
        yield* advance(progress, part.at(-1) === page.at(-1));
      }
      if (page.length === 0) return yield* end;
    }
  });

  /** Starts or continues the sweep of a plan. */
  return Effect.fnUntraced(function* (node: CourierNode, courier: PlanCourier) {
    const { sweeping, item } = courier;
    const startedAt = yield* Clock.currentTimeMillis;
    if (item.sweep === null) {
      yield* store.startSweep({ pid: item.scope.pid, guildId: item.guildId }, startedAt);
      sweeping.nextAt = startedAt + rereadTime;
      return;
    }
    const sweep = Effect.provideService(sweepFrom(node, courier, item.sweep), IsBackground, true);
    yield* Effect.tapErrorTag(sweep, "PlatformUnavailable", ({ retryAfterMs = 0 }) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        sweeping.failingSince ??= startedAt;
        const retryAt = startedAt + retryDelay(now - sweeping.failingSince);
        sweeping.nextAt = Math.max(retryAt, now + retryAfterMs);
      }),
    );
  });
});

/** The progress of the changes, which begin with the first member after the comparison. */
const changesFrom = ({ after, done }: Sweep, total: number): Sweep => ({
  after,
  done: after === null ? 0 : done,
  total,
});

/** Continues the comparison that waited for a platform, or begins one. */
const comparisonOf = ({ item, sweeping }: PlanCourier): Comparison => {
  if (sweeping.comparison?.revision === item.revision) return sweeping.comparison;
  const { revision } = item;
  const tally = new PreviewTally(item);
  sweeping.comparison = { revision, after: null, done: 0, tally, found: new Set(), isChecked: false };
  return sweeping.comparison;
};

/** A source that answered during a sweep is waited for no longer than this time, in milliseconds. */
const longestWait = 3_600_000;

/**
 * Follows which sources answer a sweep, over its pauses. The sweep waits for a source that stops to answer, since
 * platforms limit requests. A source that never answered is closed after some questions, so that the sweep gives all
 * roles that do not depend on it.
 */
const sourcesOfSweep = ({ item, sweeping }: PlanCourier) => {
  if (sweeping.sources.revision !== item.revision) {
    sweeping.sources = nothingLearned(item.revision);
  }
  const { states, missing } = sweeping.sources;
  const isSilent = (source: Source) => (states.get(source)?.missed ?? 0) > mostUnanswered;
  const isClosed = (source: Source) => isSilent(source) && states.get(source)?.isAnswered === false;
  return {
    sources: {
      isOpen: (source: Source) => !isClosed(source),
      note: (source: Source, isAnswered: boolean) => {
        const { missed, isAnswered: wasAnswered } = states.get(source) ?? { missed: 0, isAnswered: false };
        states.set(source, {
          missed: isAnswered ? 0 : missed + 1,
          isAnswered: wasAnswered || isAnswered,
        });
      },
      missing,
    },
    /** Whether a source that answered before is waited for. */
    isAway: Effect.map(Clock.currentTimeMillis, (now) => {
      const silent = [...states.keys()].filter((source) => isSilent(source) && !isClosed(source));
      const isOver = sweeping.failingSince !== null && now - sweeping.failingSince >= longestWait;
      if (isOver)
        for (const source of silent) states.set(source, { missed: mostUnanswered + 1, isAnswered: false });
      return silent.length > 0 && !isOver;
    }),
    closedDuring: () =>
      [...states].filter(([, { missed, isAnswered }]) => missed > 0 && !isAnswered).map(([source]) => source),
  };
};
