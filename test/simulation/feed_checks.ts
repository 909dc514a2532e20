/**
 * Checks what clients learn from the feed, from waiting for sessions, and from webhooks. Checks that erased users stay
 * erased.
 */

import { dataOf, type Records } from "./behaviour.ts";
import { describeOutcome, type Sent } from "./client.ts";
import { erasedChatId } from "./people.ts";
import { type Check, disturbance, isFinal, slack } from "./promise.ts";

const eventsOf = (page: Sent): ReadonlyArray<FeedEvent> =>
  (dataOf(page)?.["events"] ?? []) as ReadonlyArray<FeedEvent>;

interface FeedEvent {
  readonly id: string;
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Returns all events of the feed, as the last reader read them. */
const wholeFeed = ({ readers }: Records): ReadonlyArray<FeedEvent> => readers.at(-1)?.flatMap(eventsOf) ?? [];

export const feedInOrder: Check = (records) => {
  const whole = wholeFeed(records).map(({ id }) => id);
  return records.readers.flatMap((pages) => {
    const read = pages.flatMap(eventsOf).map(({ id }) => id);
    const expected = whole.slice(0, read.length);
    if (read.every((id, index) => id === expected[index])) return [];
    const how = `read ${read.join(" ")}, expected ${expected.join(" ")}`;
    return [{ promise: "A reader of the feed misses no event and sees none twice", how }];
  });
};

export const feedFresh: Check = (records) => {
  const places = new Map(wholeFeed(records).map(({ data }, index) => [data["gameId"], index]));
  return records.readers.flatMap((pages) => {
    let read = 0;
    return pages.flatMap((page) => {
      read += eventsOf(page).length;
      if (dataOf(page)?.["more"] !== false) return [];
      const missing = answeredSets(records).filter(
        ({ gameId, ended }) => ended < page.called && (places.get(gameId) ?? Infinity) >= read,
      );
      return missing.map(({ gameId, ended }) => ({
        promise: "A read of the feed that begins after a write was answered has its event",
        how: `game user ${gameId} was set at ${ended.toFixed(1)}, not read at ${page.called.toFixed(1)}`,
      }));
    });
  });
};

/** The answered writes that linked a game user. No two of these writes linked the same game user. */
const answeredSets = ({ operations }: Records) =>
  operations.flatMap(({ request, sent }) => {
    const gameId = request.write?.leaves;
    const answer = sent.find((each) => isFinal(each) && dataOf(each) !== null);
    return typeof gameId === "string" && answer !== undefined ? [{ gameId, ended: answer.ended }] : [];
  });

/** Checks that each answered write has an event, and that a user's events have consecutive link versions. */
export const feedComplete: Check = (records) => {
  const whole = wholeFeed(records);
  const missing = answeredSets(records).filter(
    ({ gameId }) => !whole.some(({ data }) => data["gameId"] === gameId),
  );
  const promise = "Each change of a link has one event, in the order of the writes";
  const chains = records.deployment.chatIds.flatMap((chatId) => {
    let [game, version]: [unknown, number] = [null, 0];
    return whole
      .filter(({ data, type }) => data["chatId"] === chatId && type.startsWith("link."))
      .flatMap(({ data }) => {
        const isNext = data["previousGameId"] === game && data["linkVersion"] === version + 1;
        [game, version] = [data["gameId"], Number(data["linkVersion"])];
        return isNext ? [] : [{ promise, how: `${JSON.stringify(data)} does not follow` }];
      });
  });
  return [...missing.map(({ gameId }) => ({ promise, how: `no event has game user ${gameId}` })), ...chains];
};

/** Checks that waiting clients learn of a session's end within 2 seconds, plus the duration of faults. */
export const hearing: Check = (records) => {
  const { history } = records;
  const ends = new Map<string, number>();
  for (const sent of history) {
    const sid = /^DELETE \/v2\/sessions\/(\S+)$/.exec(sent.line)?.[1];
    if (sid !== undefined && dataOf(sent) !== null) ends.set(sid, sent.ended);
  }
  return history.flatMap((sent) => {
    const sid = /^GET \/v2\/sessions\/([^?/]+)/.exec(sent.line)?.[1] ?? "";
    const end = Math.max(ends.get(sid) ?? Infinity, sent.called);
    if (sent.ended <= end + 2_000 + slack + disturbance(records, end, sent.ended)) return [];
    const how = `ended at ${end.toFixed(1)}, heard at ${sent.ended.toFixed(1)}: ${describeOutcome(sent)}`;
    return [{ promise: "Waiting clients learn of a session's end within 2 seconds", how }];
  });
};

/** Checks that waiting readers of events learn of a change within a second. */
export const hearingEvents: Check = (records) =>
  records.readers.flatMap((pages) => {
    const read = new Set<unknown>();
    return pages.flatMap((page) => {
      const news = answeredSets(records).filter(
        ({ gameId, ended }) => ended > page.called && !read.has(gameId),
      );
      for (const { data } of eventsOf(page)) read.add(data["gameId"]);
      const first = Math.min(...news.map(({ ended }) => ended));
      if (page.ended <= first + 1_000 + slack + disturbance(records, first, page.ended)) return [];
      const how = `a link was set at ${first.toFixed(1)}, heard at ${page.ended.toFixed(1)}`;
      return [{ promise: "Waiting readers of events learn of a change within a second", how }];
    });
  });

/** Returns the IDs of the delivered events, in the order of their first deliveries. */
const deliveredIds = ({ deployment }: Records): ReadonlyArray<string> => [
  ...new Set(deployment.receiver.received.filter(({ status }) => status < 300).map(({ id }) => id)),
];

/** Returns the IDs of the feed's events that the webhook has not accepted, or no IDs if the run has no webhook. */
export const undelivered = (records: Records): ReadonlyArray<string> => {
  if (!records.deployment.hasWebhook) return [];
  const delivered = new Set(deliveredIds(records));
  return wholeFeed(records).flatMap(({ id }) => (delivered.has(id) ? [] : [id]));
};

export const deliveries: Check = (records) => {
  const whole = wholeFeed(records);
  const delivered = deliveredIds(records);
  const places = new Map(whole.map(({ id }, place) => [id, place]));
  const isOf = (chatId: string) => (id: string) => whole[places.get(id) ?? -1]?.data["chatId"] === chatId;
  const disordered = records.deployment.chatIds.flatMap((chatId) => {
    const order = delivered.filter(isOf(chatId)).map((id) => places.get(id) ?? -1);
    return order.some((place, index) => place < (order[index - 1] ?? 0))
      ? [`${chatId}: ${order.join(" ")}`]
      : [];
  });
  return [
    ...undelivered(records).map((id) => ({
      promise: "A webhook gets every event",
      how: `${id} is not delivered`,
    })),
    ...disordered.map((how) => ({ promise: "A webhook gets the events of a user in their order", how })),
  ];
};

/**
 * Checks that writes from before an erasure change nothing when they are sent again, and that no event names the erased
 * user.
 */
export const erasures: Check = (records) => {
  const { writes, erased } = records.erasures;
  const done = erased.filter(({ outcome }) => outcome.kind === "answered");
  const again = done.flatMap((erasure) =>
    writes
      .filter(({ sent }) => sent.some((each) => dataOf(each) !== null && each.ended < erasure.called))
      .flatMap(({ sent }) => sent.filter((each) => each.called > erasure.ended && dataOf(each) !== null)),
  );
  const last = done.at(-1);
  const isQuiet =
    last !== undefined &&
    writes.every(({ sent }) => sent.some((each) => dataOf(each) !== null && each.ended < last.called));
  const named = isQuiet
    ? wholeFeed(records).filter(({ type, data }) => type === "link.set" && data["chatId"] === erasedChatId)
    : [];
  return [
    ...again.map((sent) => ({ promise: "No retry brings an erased user back", how: describeOutcome(sent) })),
    ...named.map(({ id }) => ({ promise: "No event names an erased user", how: id })),
  ];
};
