import { Clock, Effect, FiberHandle, Layer, Metric, Option, Schedule, Stream } from "effect";
import { Cache } from "../cache.ts";
import { ChatPlatform, type GuildJoin, type JoinsPosition } from "../platforms/chat_platform.ts";
import { makeOldestNode } from "./oldest_node.ts";
import { RolePlanStore } from "./role_plan_store.ts";

/** How many joins wait for the store. Further joins are dropped; the daily sweep finds their members. */
const waitingJoins = 10_000;

const positionKey = "gateway_position";

/** How long a position is of use, in milliseconds. Platforms keep joins for some minutes. */
const positionTime = 300_000;

const refused =
  "The chat platform refuses to report joins: the daily sweep finds new members until a restart";

const connected = Metric.gauge("accountlink_chat_gateway_connected", {
  description: "Whether this node receives joins from the chat platform: 1 or 0",
});

const joined = Metric.counter("accountlink_chat_joins_total", {
  description: "Users who joined a guild, as received from the chat platform",
  incremental: true,
});

/** The shared position. Without it, for example while Redis is down, the daily sweep finds who joined meanwhile. */
const makePosition = Effect.map(
  Cache,
  (cache): JoinsPosition => ({
    read: Clock.currentTimeMillis.pipe(
      Effect.flatMap((now) => cache.get(positionKey, now)),
      Effect.map(Option.getOrNull),
      Effect.orElseSucceed(() => null),
    ),
    write: (position) =>
      Clock.currentTimeMillis.pipe(
        Effect.flatMap((now) => cache.set(positionKey, position, now + positionTime, now)),
        Effect.ignore,
      ),
  }),
);

/**
 * Receives who joins a guild, and adds them to the members that wait for the guild's role plan. One node of all, the
 * oldest, is connected to the platform. While no plan is on, no node is. @internal
 */
export const layerMemberJoins = Layer.effectDiscard(
  Effect.gen(function* () {
    const { joins } = yield* ChatPlatform;
    if (joins === undefined) {
      return yield* Effect.logWarning(
        "The chat platform does not report joins: the daily sweep finds new members",
      );
    }
    const store = yield* RolePlanStore;
    const position = yield* makePosition;
    const connection = yield* FiberHandle.make();

    const mark = Effect.fnUntraced(function* ({ guildId, chatId }: GuildJoin) {
      yield* Metric.update(joined, 1);
      yield* store.markMember(guildId, chatId, yield* Clock.currentTimeMillis);
    });

    const receive = <E>(received: Stream.Stream<GuildJoin, E>) =>
      Stream.runForEach(Stream.buffer(received, { capacity: waitingJoins, strategy: "dropping" }), (join) =>
        Effect.retry(mark(join), Schedule.spaced("1 second")),
      );
    const disconnected = Metric.update(connected, 0);
    const connect = joins(position).pipe(
      Effect.tap(Metric.update(connected, 1)),
      Effect.flatMap(receive),
      Effect.scoped,
      Effect.ensuring(disconnected),
      Effect.catchTags({
        PlatformUnavailable: ({ operation }) =>
          Effect.annotateLogs(Effect.logWarning("Cannot receive joins from the chat platform"), {
            operation,
          }),
        JoinsRefused: ({ reason }) =>
          Effect.annotateLogs(Effect.logWarning(refused), { reason }).pipe(Effect.andThen(Effect.never)),
      }),
      Effect.repeat(Schedule.spaced("5 seconds")),
    );
    yield* disconnected;

    yield* makeOldestNode("gateway:", {
      problem: "Cannot choose the node that receives joins",
      work: FiberHandle.run(connection, connect, { onlyIfMissing: true }),
      stop: FiberHandle.clear(connection),
    });
  }),
);
