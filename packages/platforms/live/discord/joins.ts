/** Joins, which Discord's gateway reports. */
import { ChatId, GuildId, PlatformUnavailable } from "@accountlink/core";
import { type ChatJoins, type GuildJoin, JoinsRefused } from "@accountlink/core/platforms";
import type { CreateWebSocketManagerOptions, SessionInfo } from "@discordjs/ws";
import {
  Cause,
  Effect,
  FiberMap,
  FiberSet,
  Metric,
  Option,
  Queue,
  Redacted,
  Schedule,
  Schema,
  Stream,
} from "effect";
import { finderOn, type ResilientClient } from "../../http/mod.ts";
import { GatewayPauses } from "./gateway_pauses.ts";

const operation = "ChatPlatform.joins";

/** Discord's intent to report members, which the operator turns on at the application. */
const guildMembers = 1 << 1;

/** Discord closes a connection with one of these codes until the operator changes something. */
const refusals = new Map([
  [4004, "the bot token is wrong"],
  [4010, "the shard is not valid"],
  [4011, "the bot is in too many guilds for this number of shards"],
  [4012, "the version of the gateway is not valid"],
  [4013, "the intents are not valid"],
  [4014, 'the application lacks the privileged intent "server members"'],
]);

/** How often the position is kept. A position is kept one interval late, when its joins are stored. */
const writeInterval = "1 second";

/** The connection of a shard that does not come back for so long is started anew. */
const longestLoss = "1 minute";

const GatewayInformation = Schema.Struct({
  url: Schema.String.check(Schema.isPattern(/^wss?:\/\/[^\s?#]+$/)),
  shards: Schema.Int,
  session_start_limit: Schema.Struct({
    total: Schema.Int,
    remaining: Schema.Int,
    reset_after: Schema.Int,
    max_concurrency: Schema.Int,
  }),
});

const Joined = Schema.Struct({
  t: Schema.Literals(["GUILD_MEMBER_ADD", "GUILD_MEMBER_UPDATE"]),
  d: Schema.Struct({
    guild_id: GuildId,
    user: Schema.Struct({ id: ChatId, bot: Schema.optional(Schema.Boolean) }),
    pending: Schema.optional(Schema.NullOr(Schema.Boolean)),
  }),
});

/** How many members are remembered until they pass the screening of their guild. The sweep of the day finds others. */
const mostPending = 10_000;

/** A position. */
const Sessions = Schema.fromJsonString(
  Schema.Array(
    Schema.Struct({
      shardId: Schema.Int,
      shardCount: Schema.Int,
      sessionId: Schema.String,
      sequence: Schema.Int,
      resumeURL: Schema.optional(Schema.String),
    }),
  ),
);
const readSessions = Schema.decodeUnknownOption(Sessions);
const writeSessions = Schema.encodeSync(Sessions);

const readJoined = Schema.decodeUnknownOption(Joined);

const connections = Metric.counter("accountlink_chat_gateway_connections_total", {
  description: "Connections to the gateway of the chat platform, by kind: identify or resume",
  incremental: true,
});

const startsLeft = Metric.gauge("accountlink_chat_gateway_starts_left", {
  description: "How often the bot may still identify itself at the gateway within a day",
});

const count = (kind: "identify" | "resume") => Metric.update(Metric.withAttributes(connections, { kind }), 1);

const unavailable = (cause: unknown) => new PlatformUnavailable({ operation, cause });

/**
 * Whether Discord may have named the address for resuming: the gateway's own host, or a host of the same domain. The
 * bot's token goes to no other address, whatever is stored.
 */
const isNear = (address: string, gateway: string): boolean => {
  if (!URL.canParse(address)) return false;
  const [one, other] = [new URL(address), new URL(gateway)];
  const domain = other.hostname.replace(/^[^.]+(?=\.[^.]+\.[^.\d]+$)/, "");
  return (
    one.protocol === other.protocol &&
    one.port === other.port &&
    (one.hostname === other.hostname || (domain !== other.hostname && one.hostname.endsWith(domain)))
  );
};

export const discordJoins = (client: ResilientClient, botToken: Redacted.Redacted): ChatJoins => {
  const information = finderOn(client)(operation, "/gateway/bot", GatewayInformation).pipe(
    Effect.map(Option.getOrThrow),
    Effect.tap(({ session_start_limit: { remaining } }) => Metric.update(startsLeft, remaining)),
  );
  const pauses = new GatewayPauses();
  const pending = new Set<string>();

  /** Waits until the bot has a tenth of its identifications left, since Discord resets the token of one without any. */
  const mayIdentify = Effect.gen(function* () {
    for (;;) {
      const { total, remaining, reset_after: left } = (yield* information).session_start_limit;
      if (remaining * 10 >= total) return;
      yield* Effect.logWarning(
        `Cannot receive joins for now: Discord allows the bot ${remaining} of ${total} more connections today`,
      );
      yield* Effect.sleep(Math.max(1_000, left));
    }
  });

  return Effect.fnUntraced(function* (position) {
    // Loaded on demand, so that embedders without joins need not install it.
    const { CloseCodes, WebSocketManager, WebSocketShardEvents } = yield* Effect.tryPromise({
      try: () => import("@discordjs/ws"),
      catch: unavailable,
    });
    const joins = yield* Queue.unbounded<GuildJoin, PlatformUnavailable | JoinsRefused>();
    const watchShard = yield* FiberMap.makeRuntime<never, number>();
    const run = yield* FiberSet.makeRuntimePromise();

    let isOver = false;
    const end = (error: PlatformUnavailable | JoinsRefused) => {
      isOver = true;
      Queue.failCauseUnsafe(joins, Cause.fail(error));
    };

    const { url } = yield* information;
    const kept = Option.getOrElse(readSessions(yield* position.read), () => []);
    const sessions = new Map<number, SessionInfo>(
      kept.map(({ resumeURL = url, ...session }) => [
        session.shardId,
        { ...session, resumeURL: isNear(resumeURL, url) ? resumeURL : url },
      ]),
    );
    let written = "";
    let next = writeSessions(kept);
    const write = Effect.suspend(() => {
      const due = next;
      next = writeSessions([...sessions.values()]);
      if (due === written) return Effect.void;
      written = due;
      return position.write(due);
    });
    yield* Effect.forkScoped(Effect.repeat(write, Schedule.spaced(writeInterval)));

    /** The shards whose connections are open. */
    const open = new Set<number>();

    /** Waits before each connection of a shard, and returns the session to resume. */
    const beforeConnection = Effect.fnUntraced(
      function* (shard: number) {
        yield* pauses.before(shard);
        const session = sessions.get(shard) ?? null;
        if (session === null) yield* mayIdentify;
        if (isOver) return yield* Effect.never;
        yield* count(session === null ? "identify" : "resume");
        return session;
      },
      Effect.catchTag("PlatformUnavailable", (error) => {
        end(error);
        return Effect.never;
      }),
    );

    const ours = { intents: guildMembers, rest: { get: () => run(information) } };
    const manager = new WebSocketManager({
      ...(ours as unknown as CreateWebSocketManagerOptions),
      token: Redacted.value(botToken),
      handshakeTimeout: 10_000,
      helloTimeout: 10_000,
      // A manager cannot cancel the reconnection of a shard, but a shard waits for its session first.
      // It is also asked for at each message of an open connection.
      retrieveSessionInfo: (shard) =>
        open.has(shard)
          ? (sessions.get(shard) ?? null)
          : run(beforeConnection(shard)).catch(() => new Promise(() => {})),
      updateSessionInfo: (shard, session) => {
        if (isOver) return;
        if (session === null) sessions.delete(shard);
        else sessions.set(shard, session);
      },
    });
    const isBack = (shard: number) => watchShard(shard, pauses.ready(shard));
    manager
      .on(WebSocketShardEvents.Dispatch, (payload) => {
        const joined = readJoined(payload);
        if (Option.isNone(joined)) return;
        const { t, d } = joined.value;
        const { guild_id: guildId, user } = d;
        const name = `${guildId} ${user.id}`;
        if (user.bot === true) return;
        if (d.pending === true && t === "GUILD_MEMBER_ADD" && pending.size < mostPending) pending.add(name);
        // Until then, the member is as one who has not joined. Other updates change nothing here.
        const hasPassed = t === "GUILD_MEMBER_UPDATE" && d.pending === false && pending.delete(name);
        if (hasPassed || (t === "GUILD_MEMBER_ADD" && d.pending !== true)) {
          Queue.offerUnsafe(joins, { guildId, chatId: user.id });
        }
      })
      .on(WebSocketShardEvents.Hello, (shard) => open.add(shard))
      .on(WebSocketShardEvents.Ready, (_, shard) => isBack(shard))
      .on(WebSocketShardEvents.Resumed, isBack)
      .on(WebSocketShardEvents.Closed, (code, shard) => {
        open.delete(shard);
        const refusal = refusals.get(code);
        if (refusal !== undefined) return end(new JoinsRefused({ reason: refusal }));
        const lost = Effect.sync(() => end(unavailable(`The gateway closed shard ${shard} with ${code}`)));
        watchShard(shard, Effect.delay(lost, longestLoss), { onlyIfMissing: true });
      })
      .on(WebSocketShardEvents.SocketError, (error) => end(unavailable(error)))
      .on(WebSocketShardEvents.Error, (error) => end(unavailable(error)));
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        isOver = true;
        // Another code would end the sessions, which the next node resumes.
        void manager.destroy({ code: CloseCodes.Resuming });
      }),
    );

    const connect = Effect.tryPromise({ try: () => manager.connect(), catch: unavailable }).pipe(
      Effect.catch((error) => {
        end(error);
        return Queue.await(joins);
      }),
    );
    yield* Effect.raceFirst(connect, Queue.await(joins));
    return Stream.fromQueue(joins);
  });
};
