/** Starts one dev platform that all nodes use. Otherwise, each node would start its own. */
import { createServer } from "node:http";
import { Fixture } from "@accountlink/core/fixture";
import { devPlatform } from "@accountlink/dev-platforms";
import { withTestControl } from "@accountlink/dev-platforms/test_control";
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer";
import { Effect, Layer, Redacted, Schema } from "effect";
import { HttpServer } from "effect/http";
import { makeClient } from "../support/http.ts";

const botToken = "shared";

/** Returns a module that a node loads first: it redirects requests for the chat platform to the shared platform. */
const preloaded = (url: string) => `
  const { fetch } = globalThis;
  globalThis.fetch = (input, init) => {
    const { pathname, search } = new URL(input);
    if (!pathname.startsWith("/chat/api/")) return fetch(input, init);
    const headers = new Headers(init.headers);
    headers.set("authorization", "Bearer ${botToken}");
    return fetch("${url}" + pathname + search, { ...init, headers });
  };`;

interface Member {
  readonly chatId: string;
  readonly nickname: string | null;
  readonly roles: ReadonlyArray<{ readonly id: string }>;
}

/** Starts the platform. It ends with the scope. */
export const startSharedPlatform = Effect.fnUntraced(function* (fixture: typeof Fixture.Encoded) {
  const { platform } = yield* Schema.decodeUnknownEffect(Fixture)(fixture);
  const listener = NodeHttpServer.layer(() => createServer({ keepAliveTimeout: 60_000 }), {
    host: "127.0.0.1",
    port: 0,
  });
  const server = devPlatform({ fixture: platform, botToken: Redacted.make(botToken) });
  const running = yield* withTestControl(Layer.build(Layer.provideMerge(server, listener)));
  const url = yield* Effect.provideContext(HttpServer.addressFormattedWith(Effect.succeed), running);
  const { send, close } = makeClient(url);
  yield* Effect.addFinalizer(() => Effect.sync(close));
  const key = botToken;
  return {
    /** Environment variables with which a node sends its requests for the chat platform to this platform. */
    env: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(preloaded(url))}` },
    goDown: () => send("PUT /faults", { body: { mode: "down", platform: "chat" } }),
    comeUp: () => send("DELETE /faults"),
    join: (guildId: string, chatId: string) =>
      send(`PUT /control/guilds/${guildId}/members/${chatId}`, {
        body: { manager: false, nickname: null, joined: null, roles: [] },
      }),
    /** Returns up to 1,000 members after this one, or the first. */
    members: async (guildId: string, after?: string): Promise<ReadonlyArray<Member>> => {
      const query = after === undefined ? "" : `?after=${after}`;
      const { body } = await send(`GET /chat/api/guilds/${guildId}/members${query}`, { key });
      return body["members"] as unknown as ReadonlyArray<Member>;
    },
    /** Returns how often each change of a member was requested. A change is, for example, `PUT 100001 roles/1`. */
    changes: async () => {
      const { body } = await send("GET /requests");
      return body["changes"] as unknown as Readonly<Record<string, number>>;
    },
    requests: async () => {
      const { body } = await send("GET /requests");
      const routes = body["routes"] as unknown as Readonly<Record<string, number>>;
      return Object.values(routes).reduce((sum, count) => sum + count, 0);
    },
    /** The page of a guild, with what the bot posted. */
    page: async (guildId: string) => (await send(`GET /chat/guilds/${guildId}`)).text,
    forget: () => send("DELETE /requests"),
  };
});
