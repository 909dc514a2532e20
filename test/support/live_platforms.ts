/** Simulates the documented endpoints of Discord and Roblox that a server on live platforms uses. */
import { createHash, randomUUID } from "node:crypto";
import {
  type HeardRequest,
  type HttpAnswer,
  makeIdTokenSigner,
  type Platform,
  startDiscordGateway,
  startPlatformServer,
} from "@accountlink/test-servers";
import { Effect, Exit, Scope } from "effect";

/** A guild with the bot and one member, `ada`. */
export const guildId = "197038439483310086";
export const ada = { id: "175928847299117063", username: "ada", global_name: "Ada Lovelace", avatar: null };
export const eve = { id: "53908232506183680", username: "eve", global_name: null, avatar: null };
export const gameUser = {
  id: 1516563360,
  name: "ada_g",
  displayName: "Ada",
  created: "2020-03-19T05:54:55.36Z",
};

/** The first user of Roblox, whose ID the documentation uses. */
const firstGameUser = { id: 1, name: "Roblox", displayName: "Roblox", created: "2006-02-27T21:06:40.3Z" };

const users = [ada, eve];
const gameUsers = [gameUser, firstGameUser];
const bot = { id: "816547628409595165", username: "links", global_name: null, avatar: null };

/** The operator's application, before commands are installed. */
const application = {
  id: bot.id,
  name: "Links",
  verify_key: "f2a5a9d0a2b3a4ca3d2e1fbc9d8e7f60718293a4b5c6d7e8f90a1b2c3d4e5f60",
  interactions_endpoint_url: null,
};

const membership = { user: ada, nick: "Countess", roles: [], joined_at: "2015-04-26T06:26:56.936000+00:00" };

const botToken = "the-token-of-the-bot";
const chatClient = { id: bot.id, secret: "the-secret-at-chat" };
const gameClient = { id: "4242424242", secret: "the-secret-at-game" };

export interface LivePlatforms {
  /** The environment variables of a server that uses these platforms. */
  readonly env: Readonly<Record<string, string>>;
  /** The gateway of Discord, which reports joins. */
  readonly gateway: Effect.Success<ReturnType<typeof startDiscordGateway>>;
  /** The requests to both platforms. */
  readonly heard: ReadonlyArray<HeardRequest>;
  /** Texts that no server may print. */
  readonly secrets: ReadonlyArray<string>;
  /** Signs a user in on the platform's page and returns the address of the redirect. */
  readonly signIn: (url: string, userId: string) => string;
  readonly stop: () => Promise<void>;
}

export const startLivePlatforms = async (): Promise<LivePlatforms> => {
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

  const answers: Record<Platform, (request: HeardRequest) => Promise<HttpAnswer>> = {
    discord: async (request) =>
      request.path === "/gateway/bot"
        ? { body: gateway.information }
        : answerChat(request.path.slice(1), request, signIns),
    roblox: async (request) => {
      if (request.path === "/apis/oauth/v1/certs") return { body: { keys: [signer.publicKey] } };
      if (request.path === "/apis/oauth/v1/token") {
        const signIn = redeem(signIns, request, gameClient);
        return signIn === undefined ? refusedCode : tokens("openid", { id_token: await idToken(signIn) });
      }
      const user = gameUsers.find(({ id }) => request.path === `/users/v1/users/${id}`);
      return user === undefined ? unknownGameUser : { body: user };
    },
  };

  const heard: Array<HeardRequest> = [];
  const start = (platform: Platform) =>
    startPlatformServer(
      platform,
      (path) => path,
      (request) => {
        heard.push(request);
        return answers[platform](request);
      },
    );

  const scope = Scope.makeUnsafe();
  const chat = await Effect.runPromise(Scope.provide(start("discord"), scope));
  const game = await Effect.runPromise(Scope.provide(start("roblox"), scope));
  const gateway = await Effect.runPromise(Scope.provide(startDiscordGateway(), scope));
  return {
    env: {
      ACCOUNTLINK_PLATFORM: "live",
      ACCOUNTLINK_CHAT_BOT_TOKEN: botToken,
      ACCOUNTLINK_CHAT_CLIENT_ID: chatClient.id,
      ACCOUNTLINK_CHAT_CLIENT_SECRET: chatClient.secret,
      ACCOUNTLINK_CHAT_API_URL: chat.url,
      ACCOUNTLINK_GAME_CLIENT_ID: gameClient.id,
      ACCOUNTLINK_GAME_CLIENT_SECRET: gameClient.secret,
      ACCOUNTLINK_GAME_API_URL: `${game.url}/{service}`,
    },
    gateway,
    heard,
    secrets: [botToken, chatClient.secret, gameClient.secret],
    signIn: (page, userId) => {
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

const tokens = (scope: string, others: object): HttpAnswer => ({
  body: {
    token_type: "Bearer",
    expires_in: 900,
    refresh_token: "refresh",
    scope,
    access_token: "access",
    ...others,
  },
});

const refusedCode: HttpAnswer = { status: 400, body: { error: "invalid_grant" } };
const unknownGameUser: HttpAnswer = {
  status: 404,
  body: { errors: [{ code: 3, message: "The user id is invalid." }] },
};

const answerChat = (path: string, request: HeardRequest, signIns: Map<string, SignIn>): HttpAnswer => {
  const { authorization = "" } = request.headers;
  if (path === "oauth2/token") {
    const signIn = redeem(signIns, request, chatClient);
    if (signIn === undefined) return refusedCode;
    const scope = signIn.asked.get("scope") ?? "";
    return tokens(scope, { access_token: `${scope} of ${signIn.userId}` });
  }
  const owner = users.find(({ id }) => authorization.endsWith(` of ${id}`));
  if (owner !== undefined) return answerOwner(path, owner, authorization);
  if (authorization !== `Bot ${botToken}`) return chatRefusal(401, 0, "401: Unauthorized");
  const body = botAnswers[path];
  if (body !== undefined) return { body };
  if (path.startsWith(`guilds/${guildId}/members/`)) return chatRefusal(404, 10_007, "Unknown Member");
  if (path.startsWith("guilds/")) return chatRefusal(403, 50_001, "Missing Access");
  const user = users.find(({ id }) => path === `users/${id}`);
  return user === undefined ? chatRefusal(404, 10_013, "Unknown User") : { body: user };
};

/** What the bot gets, by path. */
const botAnswers: Readonly<Record<string, object>> = {
  "users/@me": bot,
  "users/@me/guilds": [{ id: guildId, name: "Engine Room", owner: false }],
  "applications/@me": application,
  [`applications/${application.id}/commands`]: [],
  [`guilds/${guildId}`]: { id: guildId, name: "Engine Room" },
  [`guilds/${guildId}/members/${ada.id}`]: membership,
};

const answerOwner = (path: string, owner: { readonly id: string }, authorization: string): HttpAnswer => {
  if (path === "users/@me") return { body: owner };
  if (!authorization.includes("guilds.members.read")) return chatRefusal(401, 0, "401: Unauthorized");
  const isMember = path === `users/@me/guilds/${guildId}/member` && owner.id === ada.id;
  return isMember ? { body: membership } : chatRefusal(404, 10_004, "Unknown Guild");
};

const chatRefusal = (status: number, code: number, message: string): HttpAnswer => ({
  status,
  body: { code, message },
});
