/** The sign-ins against a provider that others wrote, with ES256 keys and PKCE required. */
import { generateKeyPairSync } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { ChatIdentity, GameIdentity } from "@accountlink/core";
import type { IdentityProvider } from "@accountlink/core/platforms";
import { listenScoped } from "@accountlink/test-servers";
import { expect, testLive as test } from "@accountlink/test-servers/effect";
import { Context, Effect, Layer, Redacted } from "effect";
import { FetchHttpClient } from "effect/http";
import { Provider } from "oidc-provider";
import { signIn } from "../http/oauth/test_sign_in.ts";
import { liveChatIdentity } from "./discord/chat_identity.ts";
import { liveGameIdentity } from "./roblox/game_identity.ts";

const application = { clientId: "816547628409595165", clientSecret: Redacted.make("s3cret/+") };
const userId = "1516563360";

/** The platforms' issuers and routes, which the provider takes. */
const issuers = { chat: "https://discord.com", game: "https://apis.roblox.com/oauth/" };
const routes = {
  chat: { authorization: "/authorize", token: "/oauth2/token" },
  game: { authorization: "/authorize", token: "/apis/oauth/v1/token", jwks: "/apis/oauth/v1/certs" },
};

const lifetimes = ["AccessToken", "AuthorizationCode", "Grant", "IdToken", "Interaction", "Session"];

/** Starts a provider at which every visitor is signed in as the same user, who agrees to everything. */
const startProvider = Effect.fnUntraced(function* (platform: keyof typeof routes) {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const key = { ...privateKey.export({ format: "jwk" }), kid: "key-1", alg: "ES256", use: "sig" };
  const provider = new Provider(issuers[platform], {
    jwks: { keys: [key] },
    clients: [
      {
        client_id: application.clientId,
        client_secret: Redacted.value(application.clientSecret),
        redirect_uris: [signIn.redirectUri],
        token_endpoint_auth_method: "client_secret_post",
        id_token_signed_response_alg: "ES256",
      },
    ],
    scopes: ["openid", "identify"],
    pkce: { required: () => true },
    routes: routes[platform],
    cookies: { keys: ["cookies"] },
    ttl: Object.fromEntries(lifetimes.map((name) => [name, 60])),
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    findAccount: (_, accountId) => ({ accountId, claims: () => ({ sub: accountId }) }),
    loadExistingGrant: async ({ oidc: { session } }) => {
      const grant = new provider.Grant({ accountId: session?.accountId, clientId: application.clientId });
      grant.addOIDCScope("openid identify");
      await grant.save();
      return grant;
    },
  });
  const handle = provider.callback();
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    if (request.url?.startsWith("/interaction/")) {
      return provider.interactionFinished(request, response, { login: { accountId: userId } });
    }
    if (request.url !== "/users/@me") return handle(request, response);
    // Discord tells the owner of an access token, without OpenID Connect.
    const token = await provider.AccessToken.find(
      request.headers.authorization?.slice("Bearer ".length) ?? "",
    );
    return response.end(JSON.stringify({ id: token?.accountId }));
  };
  const server = createServer((request, response) => void answer(request, response));
  const port = yield* listenScoped(server);
  return `http://127.0.0.1:${port}`;
});

/** Follows the redirects of a sign-in as a browser does, and returns the query of the callback. */
const callbackOf = async (page: string): Promise<URLSearchParams> => {
  const cookies = new Map<string, string>();
  for (let url = new URL(page); ; ) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const { headers } = await fetch(url, { redirect: "manual", headers: { cookie } });
    for (const [pair = ""] of headers.getSetCookie().map((header) => header.split(";"))) {
      const [name = "", value = ""] = pair.split("=");
      cookies.set(name, value);
    }
    const next = new URL(headers.get("location") ?? "", url);
    if (next.href.startsWith(signIn.redirectUri)) return next.searchParams;
    url = new URL(next.pathname + next.search, page);
  }
};

const setUp = Effect.fnUntraced(function* (platform: keyof typeof routes) {
  const url = yield* startProvider(platform);
  const options = { ...application, authorizationUrl: `${url}/authorize` };
  const live = {
    chat: Effect.map(
      Layer.build(liveChatIdentity({ ...options, apiUrl: url, publicUrl: "https://link.example" })),
      (built): IdentityProvider<string> => Context.get(built, ChatIdentity),
    ),
    game: Effect.map(
      Layer.build(liveGameIdentity({ ...options, apiUrl: `${url}/{service}` })),
      (built): IdentityProvider<string> => Context.get(built, GameIdentity),
    ),
  };
  const identity = yield* Effect.provide(live[platform], FetchHttpClient.layer);
  const visit = Effect.flatMap(identity.begin(signIn), ({ url: page }) =>
    Effect.promise(() => callbackOf(page)),
  );
  return { visit, finish: identity.finish };
});

test.each(["chat", "game"] as const)(
  "a %s user signs in at an independent provider, once for each code",
  function* (platform) {
    const { visit, finish } = yield* setUp(platform);
    const callback = yield* visit;
    expect(yield* finish(signIn, callback)).toMatchObject({ userId });
    const again = yield* Effect.flip(finish(signIn, callback));
    expect(again).toMatchObject({ _tag: "ProofInvalid", reason: "invalid_grant" });
  },
);

test.each([
  ["chat", { codeVerifier: "w".repeat(43) }, "invalid_grant"],
  ["game", { codeVerifier: "w".repeat(43) }, "invalid_grant"],
  ["game", { nonce: "another" }, "OAUTH_JWT_CLAIM_COMPARISON_FAILED"],
] as const)(
  "a code of a %s user is refused with %o of another sign-in",
  function* ([platform, other, reason]) {
    const { visit, finish } = yield* setUp(platform);
    const error = yield* Effect.flip(finish({ ...signIn, ...other }, yield* visit));
    expect(error).toMatchObject({ _tag: "ProofInvalid", reason });
  },
);
