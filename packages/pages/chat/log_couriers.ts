/** Tells the logs that this node holds. Other nodes take over the logs of a dead node. */

import { ChatPlatform } from "@accountlink/core";
import { placeOf } from "@accountlink/core/communities";
import {
  type Courier,
  dueUntil,
  isCarrying,
  longestRetryDelay,
  makeCouriers,
  makeNode,
  retryDelay,
} from "@accountlink/core/couriers";
import { GuildLogStore, type HeldLog, type LogLine } from "@accountlink/core/guild_log";
import { type ChatChannels, PlatformRefusals, Urgency } from "@accountlink/core/platforms";
import { makeGuildCheck } from "@accountlink/core/roles";
import type { Millis } from "@accountlink/core/timestamp";
import { bounds, Turns } from "@accountlink/core/turns";
import { Clock, Context, Effect, Layer, Metric } from "effect";
import { Languages } from "../languages/mod.ts";
import { importPause, type LogCourier, makeLogReads, type News } from "./log_reads.ts";
import { makeLogTexts } from "./log_texts.ts";
import { messageBody } from "./message.ts";

/** The time between two messages of a log, in milliseconds. */
const pause = 2_000;

/** When a closed channel is tried again, and how often it is asked whether the team still manages the guild. */
const day = 86_400_000;

/** What is older than this when it can be told is only counted, in milliseconds. */
const oldest = 3_600_000;

/** How long erased users are taken out of messages, in milliseconds. */
const editTime = 30 * day;

/** How many logs the node tells at once. An account may have any number of them, which all have news at once. */
const mostAtOnce = 4;

const posted = Metric.counter("accountlink_log_messages_total", {
  description: "Messages in log channels, by outcome",
  incremental: true,
});

const outcomes = ["posted", "closed", "refused", "unavailable", "edited"] as const;

const count = (outcome: (typeof outcomes)[number]) =>
  Metric.update(Metric.withAttributes(posted, { outcome }), 1);

/** Tells what happens in the channels of logs. Does nothing on a platform without channels. */
export class LogCouriers extends Context.Service<LogCouriers>()("@accountlink/pages/LogCouriers", {
  make: Effect.gen(function* () {
    const { channels } = yield* ChatPlatform;
    return {
      /** Prevents further messages, because the node is stopping. */
      stop: channels === undefined ? Effect.void : yield* start(channels),
    };
  }),
}) {
  static readonly layer = Layer.effect(LogCouriers, LogCouriers.make).pipe(Layer.provide(Languages.layer));
}

const start = Effect.fnUntraced(function* (channels: ChatChannels) {
  const store = yield* GuildLogStore;
  const { chargeTo } = yield* PlatformRefusals;
  const run = yield* makeLogRun(channels);
  const turns = new Turns({ resource: "logs", places: mostAtOnce, longestRest: bounds.workedAtOnce });
  const node = makeNode();
  for (const outcome of outcomes) {
    yield* Metric.update(Metric.withAttributes(posted, { outcome }), 0);
  }
  const { stop } = yield* makeCouriers({
    topic: "guild_logs",
    items: "logs",
    problem: "Cannot write the log of a community",
    node,
    hold: (hold) => store.hold(hold),
    idOf: ({ scope, guildId }) => `${scope.pid} ${guildId}`,
    make: (courier: Courier<HeldLog>): LogCourier => ({
      ...courier,
      nextAt: null,
      failingSince: null,
      managedAt: null,
      problemAt: null,
      isEditNext: false,
    }),
    run: (courier) => {
      const { account } = courier.item.scope;
      const told = run(courier, (at) => isCarrying(node, courier, at), node.id);
      return turns.step(account, told).pipe(chargeTo(account), Effect.provideService(Urgency, "background"));
    },
    isDue: (courier, at) => mayTell(courier) || hasEdit(courier, at),
  });
  return stop;
});

const mayTell = ({ item, hasNews, problemAt }: LogCourier): boolean =>
  hasNews || item.waitsSince !== null || (item.problemAt !== null && item.problemAt !== problemAt);

/** Whether a message of a log names erased users, and is due to be edited. */
const hasEdit = ({ item: { editAt } }: LogCourier, at: Millis): boolean =>
  editAt !== null && editAt <= dueUntil(editAt, at, day);

/** Whether less than a day is between two times, of which the clock may have told the earlier one while it was ahead. */
const isWithinDay = (time: Millis | null, now: Millis): boolean =>
  time !== null && Math.abs(now - time) < day;

const makeLogRun = Effect.fnUntraced(function* (channels: ChatChannels) {
  const store = yield* GuildLogStore;
  const { readNews, ofGuild, forgetErased } = yield* makeLogReads;
  const { isManaged } = yield* makeGuildCheck;
  const linesOf = yield* makeLogTexts;

  const record = Effect.fnUntraced(function* (
    courier: LogCourier,
    node: string,
    { position, told, problems, problemAt }: Omit<News, "items">,
    message: { readonly messageId: string; readonly lines: ReadonlyArray<LogLine> } | null,
    closedAt: Millis | null,
  ) {
    const at = yield* Clock.currentTimeMillis;
    const { channelId } = courier.item;
    const isHeld = yield* store.record({
      ...placeOf(courier.item),
      node,
      at,
      position,
      told,
      problems,
      message: message && channelId !== null ? { ...message, channelId } : null,
      closedAt,
    });
    courier.position = position;
    courier.problemAt = problemAt;
    courier.item = { ...courier.item, position, problems, closedAt, waitsSince: null };
    courier.isStopping ||= !isHeld;
  });

  const post = Effect.fnUntraced(function* (
    courier: LogCourier,
    node: string,
    channelId: string,
    news: News,
  ) {
    const now = yield* Clock.currentTimeMillis;
    yield* forgetErased(news.items, now);
    const items = yield* ofGuild(courier.item, news.items);
    if (items.length === 0) return yield* record(courier, node, news, null, courier.item.closedAt);
    const late = items.filter(({ at }) => at <= now - oldest);
    const fresh = items.filter(({ at }) => at > now - oldest);
    const lines = yield* linesOf(courier.item, fresh, late);
    const body = messageBody({ content: lines.map(({ text }) => text).join("\n"), isPublic: true });
    courier.nextAt = now + pause;
    const messageId = yield* channels.post(channelId, body);
    yield* count("posted");
    courier.failingSince = null;
    yield* record(courier, node, news, { messageId, lines }, null);
    courier.nextAt = (yield* Clock.currentTimeMillis) + pause;
  });

  /** Returns whether the account's team still manages the guild, as it was asked within a day. */
  const isAllowed = Effect.fnUntraced(function* (courier: LogCourier, now: Millis) {
    const { managedAt, item } = courier;
    if (isWithinDay(managedAt, now)) return true;
    if (!(yield* isManaged(item))) return false;
    courier.managedAt = now;
    return true;
  });

  const tell = Effect.fnUntraced(function* (courier: LogCourier, node: string, now: Millis) {
    const { channelId, closedAt } = courier.item;
    if (channelId === null || isWithinDay(closedAt, now)) return;
    const news = yield* readNews(courier, now);
    if (news === null) {
      courier.nextAt = now + importPause / 3;
      return;
    }
    const hasMoved =
      news.position !== courier.position || news.problems.join() !== courier.item.problems.join();
    if (news.items.length === 0) {
      if (hasMoved) yield* record(courier, node, news, null, closedAt);
      courier.problemAt = news.problemAt;
      return;
    }
    const { position, problemAt } = courier;
    const nothing = { ...news, position, told: [], problems: courier.item.problems, problemAt };
    const close = Effect.andThen(count("closed"), record(courier, node, nothing, null, now));
    if (!(yield* isAllowed(courier, now))) return yield* close;
    yield* Effect.catchTag(post(courier, node, channelId, news), "PostRefused", ({ reason }) =>
      reason === "channel_closed"
        ? close
        : Effect.andThen(count("refused"), record(courier, node, news, null, null)),
    );
  });

  /** Edits a message from which users were erased. A message that cannot be edited within 30 days stays unchanged. */
  const edit = Effect.fnUntraced(function* (courier: LogCourier, now: Millis) {
    const until = dueUntil(courier.item.editAt, now, day);
    const [message] = yield* store.dueEdits(placeOf(courier.item), until, 1);
    courier.item = { ...courier.item, editAt: null };
    if (message === undefined) return;
    const { channelId, messageId, lines, erasedAt } = message;
    const body = messageBody({ content: lines.map(({ text }) => text).join("\n"), isPublic: true });
    const retryIn = yield* channels.edit(channelId, messageId, body).pipe(
      Effect.as(null),
      Effect.catchTag("PostRefused", () => Effect.succeed(day)),
      Effect.catchTag("PlatformUnavailable", () => Effect.succeed(retryDelay(now - erasedAt))),
    );
    const isOver = now >= erasedAt + editTime;
    if (retryIn === null) yield* count("edited");
    else if (isOver)
      yield* Effect.logWarning("Cannot take an erased user out of a message: the bot may not edit it");
    const retryAt = retryIn === null || isOver ? null : now + retryIn;
    yield* store.settleEdit(placeOf(courier.item), message, retryAt);
    courier.nextAt = now + pause;
  });

  return Effect.fnUntraced(function* (courier: LogCourier, isActive: (at: Millis) => boolean, node: string) {
    const now = yield* Clock.currentTimeMillis;
    if (!isActive(now)) return;
    // Another node may have posted just before it died.
    courier.nextAt ??= now + pause;
    if (courier.nextAt > dueUntil(courier.nextAt, now, longestRetryDelay)) return;
    // An erasure may leave edits for hours, so news waits for at most one of them.
    const isEdit = hasEdit(courier, now) && (courier.isEditNext || !mayTell(courier));
    courier.isEditNext = !isEdit;
    const work = isEdit ? edit(courier, now) : tell(courier, node, now);
    yield* Effect.catchTag(work, "PlatformUnavailable", () => {
      courier.failingSince ??= now;
      courier.hasNews = true;
      courier.nextAt = now + retryDelay(now - courier.failingSince);
      return count("unavailable");
    });
  });
});
