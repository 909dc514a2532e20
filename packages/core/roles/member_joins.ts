import { Clock, Effect, FiberHandle, Layer, Metric, Option, Schedule, Stream } from "effect";
import { Cache } from "../cache.ts";
import { ChatPlatform, type GuildJoin, type JoinsPosition } from "../platforms/chat_platform.ts";
import { sweepEvery } from "../telemetry/warn_once.ts";
import { newUlid } from "../ulid.ts";
import { RolePlanStore } from "./role_plan_store.ts";

/** How long a node may hold the connection after its last heartbeat, in milliseconds. */
const holdTime = 7_000;

/** How many joins wait for the store. Further joins are dropped; the daily sweep finds their members. */
const waitingJoins = 10_000;

const prefix = "gateway:";

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
    const node = prefix + newUlid(yield* Clock.currentTimeMillis);
    const connection = yield* FiberHandle.make();
    let livesUntil = 0;

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

    /** Renews the lease of this node, and connects if this node is the oldest. */
    const hold = Effect.fnUntraced(function* (at: number) {
      yield* store.hold({ node, at, until: at + holdTime, limit: 0 });
      livesUntil = at + holdTime;
      if (Option.contains(yield* store.firstNode(prefix, at), node)) {
        yield* FiberHandle.run(connection, connect, { onlyIfMissing: true });
      } else yield* FiberHandle.clear(connection);
    });

    const release = Effect.gen(function* () {
      const at = yield* Clock.currentTimeMillis;
      yield* Effect.ignore(Effect.timeout(store.hold({ node, at, until: at, limit: 0 }), "2 seconds"));
    });
    yield* Effect.addFinalizer(() => release);
    yield* sweepEvery("1 second", "Cannot choose the node that receives joins", (at) =>
      Effect.tapError(hold(at), () => (at < livesUntil ? Effect.void : FiberHandle.clear(connection))),
    );
  }),
);
