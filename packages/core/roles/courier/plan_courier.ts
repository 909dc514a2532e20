/** Reads the events of a plan's scope, and changes the guild members that the events name. */
import { Clock, Effect, Option, Semaphore } from "effect";
import { placeOf } from "../../communities/community.ts";
import {
  type Courier,
  type CourierNode,
  dueUntil,
  isCarrying,
  longestRetryDelay,
  retryDelay,
} from "../../couriers/couriers.ts";
import { EventStore, type FeedEvent, usersNamedIn } from "../../events/mod.ts";
import type { ChatId } from "../../ids.ts";
import { forEachLimited } from "../../limited_loops.ts";
import { LinkStore } from "../../links/link_store.ts";
import type { Millis } from "../../timestamp.ts";
import { makeGuildCheck } from "../guild_check.ts";
import { closedProblems, sourcesOf } from "../member_changes.ts";
import { MemberSync } from "../member_sync.ts";
import { addChanges, noChanges } from "../role_changes.ts";
import { type HeldPlan, RolePlanStore, type WaitingMember } from "../role_plan_store.ts";
import { goneMember, makeChangeMember, makeUnanswered } from "./change_member.ts";
import { ClosedSources } from "./closed_sources.ts";

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
  /** Whether a sweep of the plan runs, and the time before which none starts or continues. */
  sweeping: { readonly isRunning: boolean; readonly nextAt: Millis };
  /** Prevents a sweep from changing a member while an event's change of the same member runs, and vice versa. */
  readonly turn: Semaphore.Semaphore;
  readonly closed: ClosedSources;
}

export const makePlanCourier = (courier: Courier<HeldPlan>): PlanCourier => ({
  ...courier,
  failedAt: null,
  sweeping: { isRunning: false, nextAt: 0 },
  turn: Semaphore.makeUnsafe(1),
  closed: new ClosedSources(),
});

const isProbing = ({ failedAt }: PlanCourier, at: Millis): boolean =>
  failedAt === null || Math.abs(at - failedAt) >= probeInterval;

const membersDueUntil = ({ item }: PlanCourier, at: Millis): Millis =>
  dueUntil(item.nextDueAt, at, longestRetryDelay);

export const isMemberDue = (courier: PlanCourier, at: Millis): boolean => {
  const { nextDueAt } = courier.item;
  return nextDueAt !== null && nextDueAt <= membersDueUntil(courier, at) && isProbing(courier, at);
};

export const makePlanRun = Effect.gen(function* () {
  const store = yield* RolePlanStore;
  const events = yield* EventStore;
  const links = yield* LinkStore;
  const sync = yield* MemberSync;
  const changeMember = yield* makeChangeMember;
  const unanswered = yield* makeUnanswered;
  const { pauseWithoutBot } = yield* makeGuildCheck;

  /** Reads new events. Stores the members who are named in these events as waiting members. */
  const readFeed = Effect.fnUntraced(function* (node: CourierNode, courier: PlanCourier) {
    courier.hasNews = false;
    const { pid } = courier.item.scope;
    const page = Option.getOrNull(yield* events.read(pid, courier.position, pageSize));
    // The page is null if events were deleted before they were read, or if a backup was restored. The members that
    // these events named are unknown, so `nobody` starts a sweep of all members.
    const marks = page === null ? { ...nobody, position: (yield* events.range(pid)).end } : marksOf(page);
    if (marks === null) return;
    const at = yield* Clock.currentTimeMillis;
    const isHeld = yield* store.mark({ ...placeOf(courier.item), node: node.id, at, ...marks });
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
    const { closed } = courier;
    if (closed.areKnown) return closed;
    const { problems } = yield* store.status(placeOf(courier.item));
    const stored = problems.filter(({ reason }) => reason === "source_closed");
    if (!closed.areKnown) closed.close(stored.flatMap(({ roleId }) => sourcesOf(courier.item, roleId)));
    return closed;
  });

  /** Changes the waiting members that are due. Returns false if there was nothing to do. */
  const changeDue = Effect.fnUntraced(function* (node: CourierNode, courier: PlanCourier) {
    const { revision } = courier.item;
    const place = placeOf(courier.item);
    const startedAt = yield* Clock.currentTimeMillis;
    const isProbe = courier.failedAt !== null;
    if (!isProbing(courier, startedAt)) return false;
    const due = yield* store.due(place, membersDueUntil(courier, startedAt), isProbe ? 1 : batchSize);
    courier.item = { ...courier.item, nextDueAt: null };
    if (due.length === 0) return false;
    const chatIds = due.map(({ chatId }) => chatId);
    const records = yield* links.findByChatIds(place.pid, chatIds);
    const closed = yield* closedOf(courier);

    const changeOne = Effect.fnUntraced(function* (waiting: WaitingMember) {
      const now = yield* Clock.currentTimeMillis;
      const hasFailed = courier.failedAt !== null && !isProbe;
      if (hasFailed || !isCarrying(node, courier, now)) return [];
      const { chatId, nickname } = waiting;
      const sources = closed.sourcesFor(chatId, now);
      const changing = Effect.flatMap(
        sync.storedOf(courier.item, chatId, records.get(chatId), nickname),
        (stored) => changeMember(courier.item, chatId, stored, { sources, because: "link" }),
      );
      const made = yield* changing.pipe(
        Effect.map((answered) => {
          courier.failedAt = null;
          if (answered === null) return { result: null, changes: noChanges };
          const { settled, changes } = answered;
          const retryAt = settled.retryAt === null ? null : now + retryDelay(now - waiting.since);
          return { result: { ...settled, retryAt }, changes };
        }),
        Effect.catchTag("PlatformUnavailable", () => {
          courier.failedAt = now;
          const result = unanswered(courier.item, chatId, now + retryDelay(now - waiting.since));
          return Effect.map(result, (found) => ({ result: found, changes: noChanges }));
        }),
      );
      return [{ waiting, ...made }];
    });

    const changed = (yield* forEachLimited(due, concurrency, changeOne)).flat();
    const isAnyMissing = changed.some(({ result }) => result === null);
    const haveLeft = isAnyMissing && !(yield* hasBotLeft(courier));
    const settled = changed.map(({ waiting, result }) => ({
      ...(result ?? (haveLeft ? goneMember(waiting.chatId) : waitingOn(waiting, startedAt))),
      mark: waiting.mark,
    }));
    for (const { chatId, retryAt } of settled) if (retryAt === null) closed.release(chatId);
    const at = yield* Clock.currentTimeMillis;
    const isHeld = yield* store.settle({
      ...place,
      node: node.id,
      at,
      members: settled,
      problems: closedProblems(courier.item, closed.closeSilent(at), at),
      revision,
      sweep: null,
      changes: changed.reduce((sum, { changes }) => addChanges(sum, changes), noChanges),
    });
    courier.isStopping ||= !isHeld;
    if (closed.openAnswered()) yield* store.startSweep(place, at);
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

/** The types of events whose users are compared. A session that confirms a link proves it, and is the only event of that. */
const comparing: ReadonlySet<FeedEvent["type"]> = new Set([
  "link.set",
  "link.moved",
  "link.removed",
  "user.erased",
  "session.completed",
]);

const usersOf = (event: FeedEvent): ReadonlyArray<ChatId> =>
  comparing.has(event.type) ? usersNamedIn(event) : [];
