/** The gateway of Discord: a WebSocket server that speaks the part of its protocol that reports joins. */
import { createServer } from "node:http";
import { WebSocket, WebSocketServer } from "@effect/platform-node/NodeWS";
import { Effect } from "effect";
import { listenLocally } from "./free_port.ts";

/** What a client sent: its operation, and the data of an identification or a resumption. */
interface Heard {
  readonly op: number;
  readonly d: {
    readonly shard: readonly [number, number];
    readonly session_id: string;
    readonly seq: number;
  };
}

interface Session {
  readonly shard: number;
  readonly events: Array<object>;
  socket: WebSocket;
}

const ops = {
  dispatch: 0,
  heartbeat: 1,
  identify: 2,
  resume: 6,
  invalidSession: 9,
  hello: 10,
  acknowledged: 11,
};

export const startDiscordGateway = Effect.fnUntraced(function* ({ shards = 1 } = {}) {
  const server = createServer();
  const sockets = new WebSocketServer({ server, verifyClient: () => !gateway.isDown });
  const port = yield* Effect.acquireRelease(
    Effect.promise(() => listenLocally(server)),
    () =>
      Effect.sync(() => {
        gateway.drop();
        server.close();
      }),
  );
  const url = `ws://127.0.0.1:${port}`;
  const sessions = new Map<string, Session>();
  const heard: Array<Heard> = [];

  const gateway = {
    /** The answer of the API to `GET /gateway/bot`. */
    information: {
      url,
      shards,
      session_start_limit: { total: 1_000, remaining: 1_000, reset_after: 0, max_concurrency: shards },
    },
    /** The identifications, resumptions and heartbeats so far. */
    heard,
    countOf: (name: "identify" | "resume") => heard.filter(({ op }) => op === ops[name]).length,
    /** The paths of the addresses at which clients resumed. */
    resumedAt: new Array<string>(),
    /** Whether the gateway closes a connection as soon as it has resumed. */
    closesResumed: false,
    /** When clients identified themselves or resumed, in milliseconds. */
    startedAt: new Array<number>(),
    /** The code with which the gateway closes a connection that identifies itself. */
    refusal: null as number | null,
    acknowledges: true,
    /** In milliseconds. A client that is starved for as long takes the connection for lost. */
    heartbeatInterval: 5_000,
    /** Whether the gateway refuses new connections. */
    isDown: false,
    connections: () => [...sockets.clients].filter(({ readyState }) => readyState === WebSocket.OPEN).length,
    forgetSessions: () => sessions.clear(),
    /** Ends all connections without a word. */
    drop: () => {
      for (const socket of sockets.clients) socket.terminate();
    },
    /** Reports a join to the shard of the guild, or keeps it for the resumption. */
    join: (guildId: string, id: string, more: object = {}) =>
      gateway.tell("GUILD_MEMBER_ADD", guildId, { user: { id, username: id, ...more }, roles: [] }),
    /** Reports something about a member. */
    tell: (event: string, guildId: string, member: object) => {
      const shard = Number((BigInt(guildId) >> 22n) % BigInt(shards));
      for (const session of sessions.values()) {
        if (session.shard === shard) dispatch(session, event, { guild_id: guildId, ...member });
      }
    },
  };

  const dispatch = (session: Session, t: string, d: object) => {
    const event = { op: ops.dispatch, s: session.events.length + 1, t, d };
    session.events.push(event);
    session.socket.send(JSON.stringify(event));
  };

  sockets.on("connection", (socket, { url: path = "" }) => {
    const send = (op: number, d?: unknown) => socket.send(JSON.stringify({ op, d }));
    send(ops.hello, { heartbeat_interval: gateway.heartbeatInterval });
    socket.on("message", (data: Buffer) => {
      const message: Heard = JSON.parse(data.toString());
      heard.push(message);
      const { op, d } = message;
      if (op === ops.heartbeat && gateway.acknowledges) send(ops.acknowledged);
      if (op === ops.identify || op === ops.resume) gateway.startedAt.push(performance.now());
      if (op === ops.identify) {
        if (gateway.refusal !== null) return socket.close(gateway.refusal);
        const session = { shard: d.shard[0], events: [], socket };
        const id = `session-${heard.length}`;
        sessions.set(id, session);
        dispatch(session, "READY", { session_id: id, resume_gateway_url: `${url}/resume`, guilds: [] });
      }
      if (op === ops.resume) {
        gateway.resumedAt.push(path);
        const session = sessions.get(d.session_id);
        if (session === undefined) return send(ops.invalidSession, false);
        session.socket = socket;
        for (const event of session.events.slice(d.seq)) socket.send(JSON.stringify(event));
        dispatch(session, "RESUMED", {});
        if (gateway.closesResumed) socket.close(4000);
      }
    });
  });
  return gateway;
});
