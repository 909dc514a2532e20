/** Discord and Roblox for a server on live platforms: with applications, sign-ins and the gateway. */
import { createHash, randomUUID } from "node:crypto";
import { botToken, guildId, moderator, startDiscord } from "@accountlink/platforms/test_discord";
import { startRoblox } from "@accountlink/platforms/test_roblox";
import {
  type HeardRequest,
  type HttpAnswer,
  makeIdTokenSigner,
  startDiscordGateway,
} from "@accountlink/test-servers";
import { Effect, Exit, Scope } from "effect";

export { ada, bob, guildId } from "@accountlink/platforms/test_discord";
export { ada as gameUser } from "@accountlink/platforms/test_roblox";

/** The bot is in the guild `guildId`, and the operator's application has no commands yet. */
const bot = { id: "816547628409595165", username: "links", global_name: null, avatar: null };

const application = {
  id: bot.id,
  name: "Links",
  verify_key: "f2a5a9d0a2b3a4ca3d2e1fbc9d8e7f60718293a4b5c6d7e8f90a1b2c3d4e5f60",
  interactions_endpoint_url: null,
};

const everybody = { id: guildId, name: "@everyone", position: 0, color: 0, permissions: "1024" };

/** The role of the bot, which may manage roles and nicknames. */
const botRole = { id: "41771983423143999", name: "Links", position: 2, color: 0, permissions: "402653184" };

/** What the bot gets besides the guild and its members, by path. */
const botAnswers: Readonly<Record<string, object>> = {
  "/users/@me": bot,
  "/users/@me/guilds": [{ id: guildId, name: "Engine Room", owner: false }],
  "/applications/@me": application,
  [`/applications/${application.id}/commands`]: [],
  [`/guilds/${guildId}/members/${bot.id}`]: { user: bot, roles: [botRole.id], joined_at: null },
  [`/guilds/${guildId}/roles`]: [everybody, moderator, botRole],
  [`/guilds/${guildId}/channels`]: [],
};

const chatClient = { id: bot.id, secret: "the-secret-at-chat" };
const gameClient = { id: "4242424242", secret: "the-secret-at-game" };

/** The first user of Roblox, whose ID the documentation uses. */
const firstGameUser = { id: 1, name: "Roblox", displayName: "Roblox", created: "2006-02-27T21:06:40.3Z" };

export type LivePlatforms = Awaited<ReturnType<typeof startLivePlatforms>>;

/** @param connections what users connected at Discord, by their ID */
export const startLivePlatforms = async (
  connections: Readonly<Record<string, ReadonlyArray<object>>> = {},
) => {
  const signer = await makeIdTokenSigner();
  const signIns = new Map<string, SignIn>();
  const idToken = ({ userId, asked }: SignIn) =>
    signer.sign({
      claims: {
        iss: "https://apis.roblox.com/oauth/",
        aud: gameClient.id,
        sub: userId,
        nonce: asked.get("nonce"),
      },
    });

  const answerChat = (path: string, request: HeardRequest): HttpAnswer | undefined => {
    if (path === "/gateway/bot") return { body: gateway.information };
    if (path === "/oauth2/token") {
      const signIn = redeem(signIns, request, chatClient);
      if (signIn === undefined) return refusedCode;
      return tokens(signIn.asked.get("scope") ?? "", { access_token: signIn.userId });
    }
    if (request.method === "PUT" && /\/members\/\d+\/roles\/\d+$/.test(path)) return { status: 204 };
    if (path === "/users/@me/connections") {
      // The access token of a user is the user's ID.
      return { body: connections[request.headers.authorization?.slice("Bearer ".length) ?? ""] ?? [] };
    }
    const body = botAnswers[path];
    return request.headers.authorization === `Bot ${botToken}` && body !== undefined ? { body } : undefined;
  };

  const answerGame = (request: HeardRequest): Promise<HttpAnswer> | HttpAnswer | undefined => {
    if (request.path === "/apis/oauth/v1/certs") return { body: { keys: [signer.publicKey] } };
    if (request.path === `/users/v1/users/${firstGameUser.id}`) return { body: firstGameUser };
    if (request.path !== "/apis/oauth/v1/token") return undefined;
    const signIn = redeem(signIns, request, gameClient);
    if (signIn === undefined) return refusedCode;
    return idToken(signIn).then((token) => tokens("openid", { id_token: token }));
  };

  const scope = Scope.makeUnsafe();
  const start = <A>(server: Effect.Effect<A, never, Scope.Scope>) =>
    Effect.runPromise(Scope.provide(server, scope));
  const gateway = await start(startDiscordGateway());
  const chat = await start(startDiscord(answerChat));
  const game = await start(startRoblox(answerGame));
  return {
    /** The environment variables of a server that uses these platforms. */
    env: {
      ACCOUNTLINK_PLATFORM: "live",
      ACCOUNTLINK_CHAT_BOT_TOKEN: botToken,
      ACCOUNTLINK_CHAT_CLIENT_ID: chatClient.id,
      ACCOUNTLINK_CHAT_CLIENT_SECRET: chatClient.secret,
      ACCOUNTLINK_CHAT_API_URL: chat.apiUrl,
      ACCOUNTLINK_GAME_CLIENT_ID: gameClient.id,
      ACCOUNTLINK_GAME_CLIENT_SECRET: gameClient.secret,
      ACCOUNTLINK_GAME_API_URL: game.apiUrl,
    },
    gateway,
    heard: chat.heard,
    /** The requests to Roblox. */
    heardOfGame: game.heard,
    /** Texts that no server may print. */
    secrets: [botToken, chatClient.secret, gameClient.secret],
    signIn: (page: string, userId: string) => {
      const asked = new URL(page).searchParams;
      const code = randomUUID();
      signIns.set(code, { userId, asked });
      const callback = new URL(asked.get("redirect_uri") ?? "");
      callback.search = String(new URLSearchParams({ code, state: asked.get("state") ?? "" }));
      return callback.href;
    },
    stop: () => Effect.runPromise(Scope.close(scope, Exit.void)),
  };
};

interface SignIn {
  readonly userId: string;
  readonly asked: URLSearchParams;
}

/** Returns the sign-in that a code stands for, only once and only to the application that began the sign-in. */
const redeem = (signIns: Map<string, SignIn>, { body }: HeardRequest, client: typeof chatClient) => {
  const form = new URLSearchParams(body);
  const code = form.get("code") ?? "";
  const signIn = signIns.get(code);
  signIns.delete(code);
  const challenge = createHash("sha256")
    .update(form.get("code_verifier") ?? "")
    .digest("base64url");
  const isBegunHere =
    form.get("client_id") === client.id &&
    form.get("client_secret") === client.secret &&
    form.get("redirect_uri") === signIn?.asked.get("redirect_uri") &&
    challenge === signIn?.asked.get("code_challenge");
  return isBegunHere ? signIn : undefined;
};

const refusedCode: HttpAnswer = { status: 400, body: { error: "invalid_grant" } };

const tokens = (scope: string, token: object): HttpAnswer => ({
  body: {
    token_type: "Bearer",
    expires_in: 900,
    refresh_token: "refresh",
    access_token: "access",
    scope,
    ...token,
  },
});
