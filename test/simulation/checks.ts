/**
 * What the service promises, held against requests and their answers alone.
 */
import { describeHistory, findContradiction, type Operation } from "../faults/linearizability.ts";
import { describeOutcome, type Sent } from "./client.ts";
import { type Operation as Asked, dailyLimit, dataOf, type Records } from "./clients.ts";
import type { Happened } from "./deployment.ts";
import { erasedChatId } from "./node.ts";

/** A promise that was not kept, and how. */
export interface Broken {
  readonly promise: string;
  readonly how: string;
}

type Check = (records: Records) => ReadonlyArray<Broken>;

/** How long after its client was told nothing a write may still take effect, in milliseconds. */
const longestAfterlife = 10_000;

/** How long messages and fibers may take besides what is promised, in milliseconds. */
const slack = 400;

const isFinal = ({ outcome }: Sent): boolean =>
  outcome.kind === "answered" && !outcome.answer.text.includes("idempotency_key_in_use");

const answers: Check = ({ history, operations }) => {
  const promise = "Every request has an answer of the contract";
  const wrong = history.filter(({ outcome }) => outcome.kind === "wrong").map(describeOutcome);
  const unreadable = operations.flatMap(({ request, sent }) =>
    sent.filter(isFinal).flatMap((each) => {
      try {
        if (each.outcome.kind === "answered") request.read(each.outcome.answer);
        return [];
      } catch (error) {
        return [`${each.line}: ${String(error)}`];
      }
    }),
  );
  return [...wrong, ...unreadable].map((how) => ({ promise, how }));
};

/** The operations on a chat user, as the search for a contradiction wants them. */
const operationsOn = (asked: ReadonlyArray<Asked>, chatId: string): ReadonlyArray<Operation> =>
  asked.flatMap(({ client, request, sent }): ReadonlyArray<Operation> => {
    const place = request.chatIds.indexOf(chatId);
    const tried = sent.filter(({ outcome }) => outcome.kind !== "not sent");
    if (place === -1 || tried.length === 0) return [];
    const answered = tried.filter(isFinal);
    const [first] = answered;
    const found = first?.outcome.kind === "answered" ? request.read(first.outcome.answer)[place] : undefined;
    return [
      {
        client: Number(client.split(" ")[1]),
        called: Math.min(...tried.map(({ called }) => called)),
        answered: first === undefined ? null : Math.min(...answered.map(({ ended }) => ended)),
        found: found ?? null,
        until: Math.max(...tried.map(({ ended }) => ended)) + longestAfterlife,
        ...(request.write === undefined ? {} : { wrote: request.write.leaves }),
      },
    ];
  });

const linearizability: Check = ({ operations, deployment }) =>
  deployment.chatIds.flatMap((chatId) => {
    const part = findContradiction(operationsOn(operations, chatId), null);
    if (part === null) return [];
    return [
      { promise: `Reads and writes of chat user ${chatId} are linearizable`, how: describeHistory(part) },
    ];
  });

const onePerKey: Check = ({ operations }) =>
  operations.flatMap(({ sent }) => {
    const told = new Set(
      sent.filter(isFinal).map(({ outcome }) => {
        const { status, body } = (outcome as Extract<typeof outcome, { kind: "answered" }>).answer;
        return JSON.stringify([status, body["data"], body["error"]?.["code"]]);
      }),
    );
    if (told.size < 2) return [];
    return [{ promise: "An idempotency key has one answer", how: [...told].join(" and ") }];
  });

const keyOf = ({ key }: Sent): string => key.slice(4, 16);

/** When each key was revoked for sure. */
const revocations = (history: ReadonlyArray<Sent>): ReadonlyMap<string, number> => {
  const revoked = new Map<string, number>();
  for (const sent of history) {
    if (!sent.line.endsWith("/keys/leaked") || dataOf(sent) === null) continue;
    revoked.set(keyOf(sent), Math.min(revoked.get(keyOf(sent)) ?? Infinity, sent.ended));
  }
  return revoked;
};

const revocation: Check = ({ history }) => {
  const revoked = revocations(history);
  return history
    .filter((sent) => sent.called > (revoked.get(keyOf(sent)) ?? Infinity) + 1_000)
    .filter((sent) => !sent.line.endsWith("/keys/leaked") && sent.outcome.kind === "answered")
    .filter(({ outcome }) => outcome.kind === "answered" && outcome.answer.status !== 401)
    .map((sent) => ({
      promise: "A revoked key is refused by every node within a second",
      how: `revoked until ${revoked.get(keyOf(sent))?.toFixed(1)}, asked at ${sent.called.toFixed(1)}: ${describeOutcome(sent)}`,
    }));
};

/** Whether a fault of such a name happened. */
const hasFault = ({ deployment }: Records, name: RegExp): boolean =>
  deployment.faults.some(({ kind }) => name.test(kind));

const limits: Check = (records) => {
  const { history, limitedKey, deployment } = records;
  const asked = history.filter(({ key }) => key === limitedKey);
  const admitted = asked.filter(
    ({ outcome }) => outcome.kind === "answered" && outcome.answer.status !== 429,
  );
  const refused = asked.filter(({ outcome }) => outcome.kind === "answered" && outcome.answer.status === 429);
  const unknown = asked.length - admitted.length - refused.length;
  const most = dailyLimit + allowedBeyond(records, admitted);
  const told = `${admitted.length} admitted, ${refused.length} refused, ${unknown} without an answer`;
  const isExact = deployment.faults.every(({ kind }) => kind === "node killed");
  return [
    ...(admitted.length > most
      ? [{ promise: `At most ${most} requests of ${dailyLimit} a day`, how: told }]
      : []),
    ...(isExact && refused.length > 0 && admitted.length + unknown < dailyLimit
      ? [{ promise: `${dailyLimit} requests a day`, how: told }]
      : []),
  ];
};

/** How many requests beyond a day's limit docs/consistency.md allows after the faults that happened. */
const allowedBeyond = (records: Records, admitted: ReadonlyArray<Sent>): number => {
  const { faults, nodes } = records.deployment;
  if (hasFault(records, /^messages of/)) return Infinity;
  const shares = Math.ceil(dailyLimit / nodes.length);
  const alone = ({ kind }: Happened): number => {
    if (/^node (?:cut off from Redis|frozen)|suspended/.test(kind)) return shares;
    if (/^Redis (?:down|frozen|slow)/.test(kind)) return nodes.length * shares;
    // A process that takes over begins a share of its own.
    return /^node (?:killed|stopped)/.test(kind) && hasFault(records, /Redis|frozen|suspended/)
      ? dailyLimit
      : 0;
  };
  const lost = ({ kind, from }: Happened): number => {
    if (!kind.startsWith("Redis restarted")) return 0;
    const unsaved = admitted.filter(
      ({ ended }) => ended > unsavedSince(records, from) && ended - slack < from,
    );
    // Without the ledger each node decides by its share.
    return unsaved.length + (hasFault(records, /Postgres/) ? nodes.length * shares : 0);
  };
  return faults.reduce((sum, fault) => sum + alone(fault) + lost(fault), 0);
};

/** Since when counts may not be in the ledger at a time: 5 seconds, and since 5 seconds before it failed. */
const unsavedSince = ({ deployment }: Records, at: number): number =>
  deployment.faults
    .filter(({ kind, to }) => /Postgres|node/.test(kind) && to + 7_000 > at)
    .reduce((since, { from }) => Math.min(since, from - 6_000), at - 6_000);

const eventsOf = (page: Sent): ReadonlyArray<FeedEvent> =>
  (dataOf(page)?.["events"] ?? []) as ReadonlyArray<FeedEvent>;

interface FeedEvent {
  readonly id: string;
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** The whole feed, which the last reader read at the end. */
const wholeFeed = ({ readers }: Records): ReadonlyArray<FeedEvent> => readers.at(-1)?.flatMap(eventsOf) ?? [];

const feedInOrder: Check = (records) => {
  const whole = wholeFeed(records).map(({ id }) => id);
  return records.readers.flatMap((pages) => {
    const read = pages.flatMap(eventsOf).map(({ id }) => id);
    const expected = whole.slice(0, read.length);
    if (read.every((id, index) => id === expected[index])) return [];
    const how = `read ${read.join(" ")}, expected ${expected.join(" ")}`;
    return [{ promise: "A reader of the feed misses no event and sees none twice", how }];
  });
};

const feedFresh: Check = (records) => {
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

/** The links that were set for sure, each to a game user of its own. */
const answeredSets = ({ operations }: Records) =>
  operations.flatMap(({ request, sent }) => {
    const gameId = request.write?.leaves;
    const answer = sent.find((each) => isFinal(each) && dataOf(each) !== null);
    return typeof gameId === "string" && answer !== undefined ? [{ gameId, ended: answer.ended }] : [];
  });

/** Each write has one event, and each event goes on from the one before it. */
const feedComplete: Check = (records) => {
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
  return [...missing.map(({ gameId }) => ({ promise, how: `no event of game user ${gameId}` })), ...chains];
};

/** Who waits for a session hears of its end within 2 seconds. Faults may delay it as long as they last. */
const hearing: Check = (records) => {
  const { history } = records;
  const ends = new Map<string, number>();
  for (const sent of history) {
    const sid = /^DELETE \/v2\/sessions\/(\S+)$/.exec(sent.line)?.[1];
    if (sid !== undefined && dataOf(sent) !== null) ends.set(sid, sent.ended);
  }
  return history.flatMap((sent) => {
    const sid = /^GET \/v2\/sessions\/([^?]+)/.exec(sent.line)?.[1] ?? "";
    const end = Math.max(ends.get(sid) ?? Infinity, sent.called);
    if (sent.ended <= end + 2_000 + slack + disturbance(records, end, sent.ended)) return [];
    const how = `ended at ${end.toFixed(1)}, heard at ${sent.ended.toFixed(1)}: ${describeOutcome(sent)}`;
    return [{ promise: "Who waits for a session hears of its end within 2 seconds", how }];
  });
};

/** How long faults may delay what happens between two moments, in milliseconds. Nobody waits for Redis for long. */
const disturbance = ({ deployment }: Records, from: number, to: number): number =>
  deployment.faults
    .filter((fault) => fault.from < to && fault.to + 3_000 > from)
    .reduce((sum, fault) => sum + (/Redis/.test(fault.kind) ? 1_500 : fault.to - fault.from + 3_000), 0);

/** Who waits for events hears within a second of a change that no earlier page had. */
const hearingEvents: Check = (records) =>
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
      return [{ promise: "Who waits for events hears of a change within a second", how }];
    });
  });

/** The events that were delivered, in the order in which they first were. */
const deliveredIds = ({ deployment }: Records): ReadonlyArray<string> => [
  ...new Set(deployment.receiver.received.filter(({ status }) => status < 300).map(({ id }) => id)),
];

/** What the webhook has not got, if there is one, of what the feed had when it was read to its end. */
export const undelivered = (records: Records): ReadonlyArray<string> => {
  if (!records.deployment.hasWebhook) return [];
  const delivered = new Set(deliveredIds(records));
  return wholeFeed(records).flatMap(({ id }) => (delivered.has(id) ? [] : [id]));
};

const deliveries: Check = (records) => {
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

/** What was answered before an erasure changes nothing when it is sent again, and nothing names the user. */
const erasures: Check = (records) => {
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

const checks: ReadonlyArray<Check> = [
  answers,
  linearizability,
  onePerKey,
  revocation,
  limits,
  feedInOrder,
  feedComplete,
  feedFresh,
  hearing,
  hearingEvents,
  deliveries,
  erasures,
];

/** The promises that were not kept. */
export const brokenPromises = (records: Records): ReadonlyArray<Broken> => {
  const wrong = answers(records);
  // Other checks read what the contract says.
  return wrong.length > 0 ? wrong : checks.flatMap((check) => check(records));
};
