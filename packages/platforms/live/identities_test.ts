import { ChatIdentity, GameIdentity, type GuildId } from "@accountlink/core";
import { type HttpAnswering, makeIdTokenSigner, startHttpServer } from "@accountlink/test-servers";
import { expect, testLive as test } from "@accountlink/test-servers/effect";
import { Context, Effect, Layer, Redacted } from "effect";
import { FetchHttpClient } from "effect/http";
import { callback, signIn } from "../http/oauth/test_sign_in.ts";
import { liveChatIdentity } from "./discord/chat_identity.ts";
import { ada, bob, eve, foreignGuildId, guildId, startDiscord } from "./discord/test_discord.ts";
import { liveGameIdentity } from "./roblox/game_identity.ts";
import { startRoblox } from "./roblox/test_roblox.ts";

const application = { clientId: "816547628409595165", clientSecret: Redacted.make("client-secret") };
const credentials = { client_id: "816547628409595165", client_secret: "client-secret" };

const tokens = { access_token: "access", token_type: "Bearer", expires_in: 899, refresh_token: "refresh" };

const chatIdentity = (apiUrl?: string) =>
  Effect.map(
    Layer.build(
      liveChatIdentity({
        ...application,
        publicUrl: "https://link.example",
        ...(apiUrl === undefined ? {} : { apiUrl }),
      }).pipe(Layer.provide(FetchHttpClient.layer)),
    ),
    Context.get(ChatIdentity),
  );

test.each<[guild: GuildId | null, scope: string]>([
  [null, "identify"],
  [guildId, "identify guilds.members.read"],
])("a chat user is sent to Discord, for the guild %s, with the scopes %s", function* ([guild, scope]) {
  const identity = yield* chatIdentity();
  const url = new URL((yield* identity.begin({ ...signIn, guildId: guild })).url);
  expect(url.origin + url.pathname).toBe("https://discord.com/oauth2/authorize");
  expect(Object.fromEntries(url.searchParams)).toMatchObject({ client_id: application.clientId, scope });
});

test("the chat user is the owner of the access token, and every request has the user agent that Discord requires", function* () {
  const { apiUrl, heard } = yield* startDiscord((path) =>
    path === "/oauth2/token" ? { body: { ...tokens, access_token: ada.id } } : undefined,
  );
  const identity = yield* chatIdentity(apiUrl);
  expect(yield* identity.finish({ ...signIn, guildId }, callback)).toEqual({
    userId: ada.id,
    isMember: true,
  });
  expect(Object.fromEntries(new URLSearchParams(heard[0]?.body))).toMatchObject(credentials);
  expect(heard[0]?.headers.authorization).toBeUndefined();
  const name = "DiscordBot (https://link.example, 1)";
  expect(heard.map(({ path, headers }) => [path, headers["user-agent"]])).toEqual([
    ["/api/v10/oauth2/token", name],
    ["/api/v10/users/@me", name],
    [`/api/v10/users/@me/guilds/${guildId}/member`, name],
  ]);
});

test("a chat user's sign-in returns the guilds that Discord lists, and which of them the user may manage", function* () {
  const { apiUrl } = yield* startDiscord((path) =>
    path === "/oauth2/token" ? { body: { ...tokens, access_token: ada.id } } : undefined,
  );
  const identity = yield* chatIdentity(apiUrl);
  const asking = { ...signIn, withGuilds: true };
  const { searchParams } = new URL((yield* identity.begin(asking)).url);
  expect(searchParams.get("scope")).toBe("identify guilds");
  const { guilds = [] } = yield* identity.finish(asking, callback);
  expect(guilds.map(({ id, name, manager }) => [id, name, manager])).toEqual([
    [guildId, "Engine Room", true],
    [foreignGuildId, "Foreign", true],
    ["81384788765712385", null, true],
    ["81384788765712386", "Theirs", false],
  ]);
});

const connection = (id: string, fields: object = {}) => ({
  id,
  name: "ada_g",
  type: "roblox",
  friend_sync: false,
  show_activity: true,
  two_way_link: false,
  verified: true,
  visibility: 1,
  ...fields,
});

/** The service answers like Discord, whose document of these tests lacks the route. */
const connecting = (answer: HttpAnswering, granted = "connections identify") =>
  Effect.gen(function* () {
    const { url, heard } = yield* startHttpServer(({ path }) => {
      if (path === "/oauth2/token") return { body: { ...tokens, scope: granted } };
      return path === "/users/@me/connections" ? answer : { body: ada };
    });
    const identity = yield* chatIdentity(url);
    const { connections } = yield* identity.finish({ ...signIn, withConnections: true }, callback);
    return { connections, paths: heard.map(({ path }) => path) };
  });

test("a chat user's sign-in returns the verified Roblox accounts that Discord lists", function* () {
  const listed = [
    connection("1"),
    connection("2", { verified: false }),
    connection("3", { revoked: true }),
    connection("4", { revoked: false, integrations: [] }),
    connection("5", { type: "twitch" }),
    connection("not-an-id"),
    connection("0"),
    connection("9".repeat(20)),
    { ...connection("6"), verified: "yes" },
    { type: "roblox" },
    null,
  ];
  expect((yield* connecting({ body: listed })).connections).toEqual(["1", "4"]);
  expect((yield* connecting({ body: null })).connections).toEqual([]);
  expect((yield* connecting({ body: { connections: listed } })).connections).toBeUndefined();
});

test("the scope `connections` is requested, and Discord is asked only if the user granted it", function* () {
  const identity = yield* chatIdentity();
  const { url } = yield* identity.begin({ ...signIn, withConnections: true });
  expect(new URL(url).searchParams.get("scope")).toBe("identify connections");
  const { connections, paths } = yield* connecting({ body: [connection("1")] }, "identify");
  expect([connections, paths]).toEqual([undefined, ["/oauth2/token", "/users/@me"]]);
});

const tokensOf = (id: string) => ({
  body: { ...tokens, access_token: id, scope: "identify guilds.members.read" },
});
const signedIn = Effect.fnUntraced(function* (
  user: { readonly id: string },
  guild: string,
  instead?: HttpAnswering,
) {
  const { apiUrl } = yield* startDiscord((path) => {
    if (path === "/oauth2/token") return tokensOf(user.id);
    return path.endsWith("/member") ? instead : undefined;
  });
  const identity = yield* chatIdentity(apiUrl);
  return yield* identity.finish({ ...signIn, guildId: guild as GuildId }, callback);
});

test("a user's own token tells the membership, and an answer about another user does not", function* () {
  const { id: userId } = ada;
  expect(yield* signedIn(eve, guildId)).toEqual({ userId: eve.id, isMember: false });
  expect(yield* signedIn(ada, "no-snowflake")).toEqual({ userId, isMember: false });
  const other = { body: { user: bob, roles: [], joined_at: null } };
  expect(yield* signedIn(ada, guildId, other)).toEqual({ userId, isMember: undefined });
});

const gameIdentity = (apiUrl?: string) =>
  Effect.map(
    Layer.build(
      liveGameIdentity({ ...application, ...(apiUrl === undefined ? {} : { apiUrl }) }).pipe(
        Layer.provide(FetchHttpClient.layer),
      ),
    ),
    Context.get(GameIdentity),
  );

test("a game user is sent to Roblox with only the scope openid", function* () {
  const identity = yield* gameIdentity();
  const url = new URL((yield* identity.begin(signIn)).url);
  expect(url.origin + url.pathname).toBe("https://apis.roblox.com/oauth/v1/authorize");
  expect(Object.fromEntries(url.searchParams)).toMatchObject({
    client_id: application.clientId,
    scope: "openid",
    nonce: signIn.nonce,
  });
});

test.each<[iss: string, expected: object]>([
  ["https://apis.roblox.com/oauth/", { userId: "1516563360" }],
  ["https://apis.roblox.com/oauth", { _tag: "ProofInvalid" }],
])("an ID token issued by %s is accepted only if the issuer is Roblox", function* ([iss, expected]) {
  const signer = yield* Effect.promise(makeIdTokenSigner);
  const claims = { iss, aud: application.clientId, sub: "1516563360", nonce: signIn.nonce };
  const { apiUrl, heard } = yield* startRoblox(async ({ path }) => {
    if (path === "/apis/oauth/v1/certs") return { body: { keys: [signer.publicKey] } };
    if (path !== "/apis/oauth/v1/token") return "cut";
    return { body: { ...tokens, scope: "openid", id_token: await signer.sign({ claims }) } };
  });
  const identity = yield* gameIdentity(apiUrl);
  const result = yield* identity.finish(signIn, callback).pipe(Effect.catch(Effect.succeed));
  expect(result).toMatchObject(expected);
  expect(Object.fromEntries(new URLSearchParams(heard[0]?.body))).toMatchObject(credentials);
});
