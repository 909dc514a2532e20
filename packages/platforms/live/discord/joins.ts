/** Joins, which Discord's gateway reports. */
import { ChatId, GuildId, PlatformUnavailable } from "@accountlink/core";
import { type ChatJoins, type GuildJoin, JoinsRefused } from "@accountlink/core/platforms";
import type { CreateWebSocketManagerOptions, SessionInfo } from "@discordjs/ws";
import { Cause, Effect, FiberMap, Option, Queue, Redacted, Schedule, Schema, Stream } from "effect";
import { finderOn, type ResilientClient } from "../../http/mod.ts";

const operation = "ChatPlatform.joins";

/** Discord's intent to report members, which the operator turns on at the application. */
const guildMembers = 1 << 1;

/** Discord closes a connection with one of these codes until the operator changes something. */
const refusals = new Map([
  [4004, "the bot token is wrong"],
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
    remaining: Schema.Int,
    reset_after: Schema.Int,
    max_concurrency: Schema.Int,
  }),
});

const Joined = Schema.Struct({
  t: Schema.Literal("GUILD_MEMBER_ADD"),
  d: Schema.Struct({
    guild_id: GuildId,
    user: Schema.Struct({ id: ChatId, bot: Schema.optional(Schema.Boolean) }),
  }),
});

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
  const information = Effect.map(
    finderOn(client)(operation, "/gateway/bot", GatewayInformation),
    Option.getOrThrow,
  );

  return Effect.fnUntraced(function* (position) {
    // Loaded on demand, so that embedders without joins need not install it.
    const { CloseCodes, WebSocketManager, WebSocketShardEvents } = yield* Effect.tryPromise({
      try: () => import("@discordjs/ws"),
      catch: unavailable,
    });
    const joins = yield* Queue.unbounded<GuildJoin, PlatformUnavailable | JoinsRefused>();
    const watchShard = yield* FiberMap.makeRuntime<never, number>();
    const run = Effect.runPromiseWith(yield* Effect.context());

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

    const ours = { intents: guildMembers, rest: { get: () => run(information) } };
    const manager = new WebSocketManager({
      ...(ours as unknown as CreateWebSocketManagerOptions),
      token: Redacted.value(botToken),
      handshakeTimeout: 10_000,
      helloTimeout: 10_000,
      // A manager cannot cancel the reconnection of a shard, but a shard waits for its session first.
      retrieveSessionInfo: (shard) => (isOver ? new Promise(() => {}) : (sessions.get(shard) ?? null)),
      updateSessionInfo: (shard, session) => {
        if (isOver) return;
        if (session === null) sessions.delete(shard);
        else sessions.set(shard, session);
      },
    });
    const isBack = (shard: number) => watchShard(shard, Effect.void);
    manager
      .on(WebSocketShardEvents.Dispatch, (payload) => {
        const joined = readJoined(payload);
        if (Option.isNone(joined)) return;
        const { guild_id: guildId, user } = joined.value.d;
        if (user.bot !== true) Queue.offerUnsafe(joins, { guildId, chatId: user.id });
      })
      .on(WebSocketShardEvents.Ready, (_, shard) => isBack(shard))
      .on(WebSocketShardEvents.Resumed, isBack)
      .on(WebSocketShardEvents.Closed, (code, shard) => {
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
