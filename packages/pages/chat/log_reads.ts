/** What the logs have to tell: events, entries that wait, and new problems of the rules. */

import { ChatPlatform } from "@accountlink/core";
import { placeOf } from "@accountlink/core/communities";
import type { Courier } from "@accountlink/core/couriers";
import { EventStore, type FeedEvent } from "@accountlink/core/events";
import { GuildLogStore, type HeldLog } from "@accountlink/core/guild_log";
import { isChatId } from "@accountlink/core/ids";
import { forEachLimited } from "@accountlink/core/limited_loops";
import { ChargedAccount } from "@accountlink/core/platforms";
import { RolePlanStore, type SharedProblem, shownProblems } from "@accountlink/core/roles";
import type { Millis } from "@accountlink/core/timestamp";
import { Effect, Option } from "effect";
import { isTold, type LogItem, type NewProblem, usersIn } from "./log_texts.ts";

/** How many events and entries are read at once. */
const [pageSize, entriesAtOnce] = [500, 200];

/** An import is told when no further batch has followed for this long, or after the second time. */
export const importPause = 3_000;
const longestImport = 60_000;

export interface LogCourier extends Courier<HeldLog> {
  /** No message is sent before this time. Null until a node that took the log over has waited. */
  nextAt: Millis | null;
  /** The time of the first failure since the last success, or null. */
  failingSince: Millis | null;
  /** When the team was last found to manage the guild. */
  managedAt: Millis | null;
  /** The newest problem when problems were last told. */
  problemAt: Millis | null;
  /** Whether the next step edits a message, if one is due: edits and news take turns. */
  isEditNext: boolean;
}

export interface News {
  readonly position: number;
  readonly told: ReadonlyArray<number>;
  readonly problems: ReadonlyArray<string>;
  readonly problemAt: Millis | null;
  readonly items: ReadonlyArray<LogItem>;
}

export const makeLogReads = Effect.gen(function* () {
  const store = yield* GuildLogStore;
  const plans = yield* RolePlanStore;
  const events = yield* EventStore;
  const { findMember } = yield* ChatPlatform;

  /** Returns the problems of the plan that are new, and all that are known. */
  const readProblems = Effect.fnUntraced(function* (courier: LogCourier) {
    const { item } = courier;
    const { problems } = yield* plans.status(placeOf(courier.item));
    const found = kindsOf(problems.filter(({ reason }) => reason !== "log_channel_closed"));
    // A problem that the list leaves out may still be there.
    const known = problems.length < shownProblems ? [] : item.problems;
    const fresh = [...found].filter(([kind]) => !item.problems.includes(kind));
    return {
      problems: [...new Set([...known, ...found.keys()])],
      items: fresh.map(([, problem]): LogItem => problem),
    };
  });

  /**
   * Reads what happened. Null if an import goes on, since its batches are told together.
   */
  const readNews = Effect.fnUntraced(function* (courier: LogCourier, now: Millis) {
    const { scope, problemAt } = courier.item;
    courier.hasNews = false;
    const page = Option.getOrNull(yield* events.read(scope.pid, courier.position, pageSize));
    // Events were deleted before they could be told, or a backup was restored.
    const position = page === null ? (yield* events.range(scope.pid)).end : page.at(-1)?.position;
    courier.hasNews = page === null || page.length === pageSize;
    if (isImporting(page ?? [], now)) {
      courier.hasNews = true;
      return null;
    }
    const waiting = yield* store.waiting(placeOf(courier.item), entriesAtOnce);
    const { problems, items } = yield* readProblems(courier);
    // Clocks of nodes differ, so an event counts as no earlier than those before it in the feed.
    let latest = 0;
    const told = [
      ...(page ?? []).map((event): LogItem => {
        latest = Math.max(latest, event.at);
        return { at: latest, event };
      }),
      ...waiting.map(({ entry, at }): LogItem => ({ at, entry })),
      ...items,
    ];
    return {
      position: position ?? courier.position,
      told: waiting.map(({ id }) => id),
      problems,
      problemAt,
      items: told.filter(isTold).toSorted((one, other) => one.at - other.at),
    } satisfies News;
  });

  /** Leaves out items about users who are not members: the list of a global scope has users of other guilds. */
  const ofGuild = Effect.fnUntraced(function* ({ scope, guildId }: HeldLog, items: ReadonlyArray<LogItem>) {
    if (scope.kind === "guild") return items;
    const users = [...new Set(items.flatMap(usersIn))];
    const found = yield* forEachLimited(users, 4, (chatId) =>
      Effect.map(findMember(guildId, chatId), (member) => (Option.isSome(member) ? [chatId] : [])),
    ).pipe(Effect.provideService(ChargedAccount, null));
    const members = new Set(found.flat());
    return items.filter((item) => {
      const named = usersIn(item);
      const isErasure = "event" in item && item.event.type === "user.erased";
      return (named.length === 0 && !isErasure) || named.some((chatId) => members.has(chatId));
    });
  });

  /** Takes users who were erased after their event was read out of messages that name them. */
  const forgetErased = (page: ReadonlyArray<LogItem>, at: Millis) =>
    Effect.forEach(
      page.flatMap((item) =>
        "event" in item && item.event.type === "user.erased" && isChatId(item.event.data.chatId)
          ? [item.event.data.chatId]
          : [],
      ),
      (chatId) => store.forgetUser(chatId, at),
      { discard: true },
    );

  return { readNews, ofGuild, forgetErased };
});

/** Returns the problems by cause, with the number of members. */
const kindsOf = (problems: ReadonlyArray<SharedProblem>) =>
  new Map(
    problems.map(({ reason, roleId, count: members, at }) => {
      const problem: NewProblem = { reason, roleId, members };
      return [`${reason} ${roleId ?? ""}`, { at, problem }];
    }),
  );

/** Whether an import goes on, whose batches are told together. */
const isImporting = (page: ReadonlyArray<FeedEvent>, now: Millis): boolean => {
  const imports = page.filter(({ type }) => type === "links.imported");
  const [first, last] = [imports[0], imports.at(-1)];
  if (first === undefined || last === undefined) return false;
  // The clock may have been set back since.
  const isRecent = last.at < now + longestImport && now < first.at + longestImport;
  return isRecent && now < last.at + importPause;
};
