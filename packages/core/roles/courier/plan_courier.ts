/** Reads the events of a plan's scope, and changes the guild members that the events name. */

import { Clock, Effect, Metric, Option, Semaphore } from "effect";
import { type Courier, type CourierNode, isCarrying, retryDelay } from "../../couriers/couriers.ts";
import type { FeedEvent } from "../../events/event.ts";
import { EventStore } from "../../events/event_store.ts";
import { type ChatId, isChatId } from "../../ids.ts";
import { forEachLimited } from "../../limited_loops.ts";
import { LinkStore } from "../../links/link_store.ts";
import type { RoleMember } from "../../platforms/chat_platform.ts";
import { ChargedAccount } from "../../platforms/platform_refusals.ts";
import type { Millis } from "../../timestamp.ts";
import { makeGuildCheck } from "../guild_check.ts";
import {
  type GroupRoles,
  type MemberChanges,
  type Source,
  type StoredMember,
  sourcesOf,
  storedMember,
} from "../member_changes.ts";
import { MemberSync, type Sources } from "../member_sync.ts";
import type { PreviewTally } from "../preview_tally.ts";
import type { RolePlan } from "../role_plan.ts";
import { type HeldPlan, RolePlanStore, type SettledMember, type WaitingMember } from "../role_plan_store.ts";

/** How many events are read at once. */
const pageSize = 500;

/** The number of waiting members that are read together, and the number of members that are changed concurrently. */
const [batchSize, concurrency] = [32, 8];

/** How often one member is tried while the platform fails, in milliseconds. */
const probeInterval = 3_000;

/** A plan that this node works on, and the state of the work. */
export interface PlanCourier extends Courier<HeldPlan> {
  /** The time of the last failed request for a member; null after a later request was answered. */
  failedAt: Millis | null;
  readonly sweeping: Sweeping;
  /** Prevents a sweep from changing a member while an event's change of the same member runs, and vice versa. */
  readonly turn: Semaphore.Semaphore;
  /** The sources that did not answer a whole sweep; null until the stored problems are read. */
  closed: ClosedSources | null;
}

/** Sources that are asked about one waiting member only, until an answer starts a sweep. */
interface ClosedSources {
  readonly sources: Set<Source>;
  /** The waiting member whose questions go to the closed sources; null while no waiting member needs one. */
  asker: ChatId | null;
}

export const closedSources = (sources: Iterable<Source>): ClosedSources => ({
  sources: new Set(sources),
  asker: null,
});

/** What a sweep of a revision knows before its first question. */
export const nothingLearned = (revision: number): Sweeping["sources"] => ({
  revision,
  states: new Map(),
  missing: new Set(),
  unanswered: new Set(),
});

/** What a sweep learned about a source. */
interface SourceState {
  /** How many questions in a row got no answer. */
  missed: number;
  isAnswered: boolean;
}

/** What a sweep found so far, before it changes members. */
export interface Comparison {
  readonly revision: number;
  /** The member that was compared last; null if no member has been compared yet. */
  after: ChatId | null;
  done: number;
  readonly tally: PreviewTally;
  /** The members who differ from the plan. */
  readonly found: Set<ChatId>;
  /** Whether all members were compared, and may be changed. */
  isChecked: boolean;
}

interface Sweeping {
  isRunning: boolean;
  /** The sources that the plan's running sweep asked, by the revision of the plan. */
  sources: {
    readonly revision: number;
    readonly states: Map<Source, SourceState>;
    readonly missing: Set<Source>;
    /** The first members with an unanswered question. */
    readonly unanswered: Set<ChatId>;
  };
  /** The comparison of the running sweep, which goes on here when a platform answers again; null before the first. */
  comparison: Comparison | null;
  /** The time of the first failure since the last success, or null. */
  failingSince: Millis | null;
  /** No sweep starts or continues before this time. */
  nextAt: Millis;
}

export const makePlanCourier = (courier: Courier<HeldPlan>): PlanCourier => ({
  ...courier,
  failedAt: null,
  sweeping: {
    isRunning: false,
    sources: nothingLearned(-1),
    comparison: null,
    failingSince: null,
    nextAt: 0,
  },
  turn: Semaphore.makeUnsafe(1),
  closed: null,
});

export const isProbing = ({ failedAt }: PlanCourier, at: Millis): boolean =>
  failedAt === null || at >= failedAt + probeInterval;

export const makePlanRun = Effect.gen(function* () {
  const store = yield* RolePlanStore;
  const events = yield* EventStore;
  const links = yield* LinkStore;
  const { change } = yield* makeMemberWork;
  const { pauseWithoutBot } = yield* makeGuildCheck;

  /** Reads new events. Stores the members who are named in these events as waiting members. */
  const readFeed = Effect.fnUntraced(function* (node: CourierNode, courier: PlanCourier) {
    courier.hasNews = false;
    const { scope, guildId } = courier.item;
    const { pid } = scope;
    const page = Option.getOrNull(yield* events.read(pid, courier.position, pageSize));
    // The page is null if events were deleted before they were read, or if a backup was restored. The members that
    // these events named are unknown, so `nobody` starts a sweep of all members.
    const marks = page === null ? { ...nobody, position: (yield* events.range(pid)).end } : marksOf(page);
    if (marks === null) return;
    const at = yield* Clock.currentTimeMillis;
    const isHeld = yield* store.mark({ pid, guildId, node: node.id, at, ...marks });
    courier.position = marks.position;
    courier.isStopping ||= !isHeld;
    courier.hasNews ||= page === null || page.length === pageSize;
  });

  /**
   * Returns true if the bot has left the guild, or if the platform does not answer. In both cases, a user who seems to
   * be missing may still be a member.
   */
  const hasBotLeft = (courier: PlanCourier) =>
    Effect.catchTag(pauseWithoutBot(courier.item), "PlatformUnavailable", () => Effect.succeed(true));

  /** Returns the closed sources. A node that takes over a plan reads them from the plan's problems. */
  const closedOf = Effect.fnUntraced(function* (courier: PlanCourier) {
    if (courier.closed !== null) return courier.closed;
    const { scope, guildId } = courier.item;
    const { problems } = yield* store.status({ pid: scope.pid, guildId });
    const stored = problems.filter(({ reason }) => reason === "source_closed");
    const sources = stored.flatMap(({ roleId }) => sourcesOf(courier.item, roleId));
    return (courier.closed ??= closedSources(sources));
  });

  /** Changes the waiting members that are due. Returns false if there was nothing to do. */
  const changeDue = Effect.fnUntraced(function* (node: CourierNode, courier: PlanCourier) {
    const { scope, guildId, revision } = courier.item;
    const place = { pid: scope.pid, guildId };
    const startedAt = yield* Clock.currentTimeMillis;
    const isProbe = courier.failedAt !== null;
    if (!isProbing(courier, startedAt)) return false;
    const due = yield* store.due(place, startedAt, isProbe ? 1 : batchSize);
    if (due.length === 0) return false;
    const records = yield* links.findByChatIds(
      place.pid,
      due.map(({ chatId }) => chatId),
    );

    const closed = yield* closedOf(courier);
    const opened = new Set<Source>();

    const changeOne = Effect.fnUntraced(function* (waiting: WaitingMember) {
      const now = yield* Clock.currentTimeMillis;
      const hasFailed = courier.failedAt !== null && !isProbe;
      if (hasFailed || !isCarrying(node, courier, now)) return [];
      const { chatId, nickname } = waiting;
      const sources: Sources = {
        isOpen: (source) => !closed.sources.has(source) || (closed.asker ??= chatId) === chatId,
        note: (source, isAnswered) => {
          if (isAnswered && closed.sources.has(source)) opened.add(source);
        },
        missing: new Set(),
      };
      const stored = storedMember(records.get(chatId), nickname);
      const result = yield* change(courier.item, chatId, stored, { sources }).pipe(
        Effect.map((made) => {
          courier.failedAt = null;
          if (made === null || made.retryAt === null) return made;
          return { ...made, retryAt: now + retryDelay(now - waiting.since) };
        }),
        Effect.catchTag("PlatformUnavailable", () => {
          courier.failedAt = now;
          return Effect.succeed(waitingOn(waiting, now));
        }),
      );
      return [{ waiting, result }];
    });

    const changed = (yield* forEachLimited(due, changeOne, { concurrency })).flat();
    const isAnyMissing = changed.some(({ result }) => result === null);
    const haveLeft = isAnyMissing && !(yield* hasBotLeft(courier));
    const settled = changed.map(({ waiting, result }) => ({
      ...(result ?? (haveLeft ? goneMember(waiting.chatId) : waitingOn(waiting, startedAt))),
      mark: waiting.mark,
    }));
    // The next member who needs a closed source is asked about, if this one has left or has no link any more.
    if (settled.some(({ chatId, retryAt }) => chatId === closed.asker && retryAt === null))
      closed.asker = null;
    const at = yield* Clock.currentTimeMillis;
    const isHeld = yield* store.settle({
      ...place,
      node: node.id,
      at,
      members: settled,
      revision,
      sweep: null,
    });
    courier.isStopping ||= !isHeld;
    if (opened.size > 0) {
      for (const source of opened) closed.sources.delete(source);
      yield* store.startSweep(place, at);
    }
    return true;
  });

  return Effect.fnUntraced(function* (node: CourierNode, courier: PlanCourier) {
    let isLeft = true;
    while (isLeft && isCarrying(node, courier, yield* Clock.currentTimeMillis)) {
      if (courier.hasNews) yield* readFeed(node, courier);
      const hasChanged = yield* courier.turn.withPermit(changeDue(node, courier));
      isLeft = hasChanged || courier.hasNews;
    }
  });
});

/** Returns the result to store for a member whose change is tried again later. */
const waitingOn = ({ chatId, nickname, since }: WaitingMember, now: Millis) => ({
  ...goneMember(chatId),
  retryAt: now + retryDelay(now - since),
  nickname,
});

const nobody = { chatIds: [] as ReadonlyArray<ChatId>, erased: [], sweepOf: 0 };

/**
 * Returns the members that the events name, and whether a sweep of all members must start; null if there are no events.
 */
const marksOf = (page: ReadonlyArray<FeedEvent>) => {
  const last = page.at(-1);
  if (last === undefined) return null;
  const isManyLinks = page.some(({ type }) => type === "links.imported" || type === "scope.deleted");
  return {
    position: last.position,
    chatIds: page.flatMap(usersOf),
    erased: page.flatMap((event) => (event.type === "user.erased" ? usersOf(event) : [])),
    sweepOf: isManyLinks ? 0 : null,
  };
};

/** Returns the users that an event names. `isChatId` drops `[erased]`, which replaces the chat IDs of erased users. */
const usersOf = (event: FeedEvent): ReadonlyArray<ChatId> => {
  switch (event.type) {
    case "link.moved":
      return [event.data.previousChatId, event.data.chatId].filter(isChatId);
    case "link.set":
    case "link.removed":
    case "user.erased":
      return [event.data.chatId].filter(isChatId);
    default:
      return [];
  }
};

const changes = Metric.counter("accountlink_role_changes_total", {
  description: "Changes of roles and nicknames, by outcome",
  incremental: true,
});

export const makeMemberWork = Effect.gen(function* () {
  const sync = yield* MemberSync;

  // Add 0, so that the counters are exported even before the first change.
  for (const outcome of outcomes) yield* count(outcome, 0);

  return {
    compare: (
      plan: RolePlan,
      member: RoleMember,
      stored: StoredMember,
      known: GroupRoles,
      sources: Sources,
    ) => sync.compare(plan, member, stored, known, sources),

    /**
     * Gives a member the roles and the nickname that the plan wants. Returns null if the user is not a member.
     *
     * @param options.pace runs before each change
     */
    change: Effect.fnUntraced(
      function* (
        plan: RolePlan,
        chatId: ChatId,
        stored: StoredMember,
        { pace, sources }: { readonly pace?: Effect.Effect<void>; readonly sources: Sources },
      ) {
        const { findMember } = yield* sync.roles;
        // Not charged: users of a global scope are often no members of this guild, which the platform answers with 404.
        const found = Effect.provideService(findMember(plan.guildId, chatId), ChargedAccount, null);
        const member = Option.getOrNull(yield* found);
        if (member === null) return null;
        const wanted = yield* sync.compare(plan, member, stored, undefined, sources);
        const { added, removed, nickname: renamed, settled } = yield* sync.apply(plan, wanted, pace);
        yield* count("refused", settled.problems.length);
        yield* count("applied", added.length + removed.length + (renamed === null ? 0 : 1));
        return settled;
      },
      Effect.tapErrorTag("PlatformUnavailable", () => count("unavailable", 1)),
    ),
  };
});

/** Whether a sync would change the member's roles or nickname. */
export const isDifferent = ({ add, remove, nickname }: MemberChanges): boolean =>
  add.length + remove.length > 0 || nickname !== null;

const outcomes = ["applied", "refused", "unavailable"] as const;

const count = (outcome: (typeof outcomes)[number], times: number) =>
  Metric.update(Metric.withAttributes(changes, { outcome }), times);

/** Returns the result to store for a user who has left the guild: without a nickname, problems or a retry. */
export const goneMember = (chatId: ChatId): SettledMember => ({
  chatId,
  mark: null,
  retryAt: null,
  nickname: null,
  problems: [],
});
