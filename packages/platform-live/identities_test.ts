import { ChatIdentity, GameIdentity, type SignIn } from "@accountlink/core";
import { makeIdTokenSigner } from "@accountlink/test-servers";
import { NodeHttpClient } from "@effect/platform-node";
import { describe, expect, it } from "@effect/vitest";
import { Context, Effect, Layer, Redacted } from "effect";
import { liveChatIdentity } from "./chat_identity.ts";
import { liveGameIdentity } from "./game_identity.ts";
import { ada, startDiscord } from "./internal/test_discord.ts";
import { startRoblox } from "./internal/test_roblox.ts";

const application = { clientId: "816547628409595165", clientSecret: Redacted.make("client-secret") };
const credentials = { client_id: "816547628409595165", client_secret: "client-secret" };

const signIn: SignIn = {
  redirectUri: "https://link.example/verify/callback",
  state: "state",
  codeVerifier: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
  nonce: "nonce",
};
const callback = new URLSearchParams({ code: "code", state: "state" });

const tokens = { access_token: "access", token_type: "Bearer", expires_in: 899, refresh_token: "refresh" };

describe("a chat user", () => {
  const chatIdentity = (apiUrl?: string) =>
    Effect.map(
      Layer.build(
        liveChatIdentity({ ...application, ...(apiUrl === undefined ? {} : { apiUrl }) }).pipe(
          Layer.provide(NodeHttpClient.layerUndici),
        ),
      ),
      Context.get(ChatIdentity),
    );

  it.live("is sent to Discord, to be known and nothing more", () =>
    Effect.gen(function* () {
      const identity = yield* chatIdentity();
      const url = new URL((yield* identity.begin(signIn)).url);
      expect(url.origin + url.pathname).toBe("https://discord.com/oauth2/authorize");
      expect(Object.fromEntries(url.searchParams)).toMatchObject({
        client_id: application.clientId,
        scope: "identify",
      });
    }),
  );

  it.live("is the owner of the access token", () =>
    Effect.gen(function* () {
      const { apiUrl, heard } = yield* startDiscord((path, { headers, method }) => {
        if (path === "/oauth2/token" && method === "POST") return { body: { ...tokens, scope: "identify" } };
        return path === "/users/@me" && headers.authorization === "Bearer access" ? { body: ada } : undefined;
      });
      const identity = yield* chatIdentity(apiUrl);
      expect(yield* identity.finish(signIn, callback)).toEqual({ userId: ada.id });
      expect(Object.fromEntries(new URLSearchParams(heard[0]?.body))).toMatchObject(credentials);
    }),
  );
});

describe("a game user", () => {
  const gameIdentity = (apiUrl?: string) =>
    Effect.map(
      Layer.build(
        liveGameIdentity({ ...application, ...(apiUrl === undefined ? {} : { apiUrl }) }).pipe(
          Layer.provide(NodeHttpClient.layerUndici),
        ),
      ),
      Context.get(GameIdentity),
    );

  it.live("is sent to Roblox, to be known and nothing more", () =>
    Effect.gen(function* () {
      const identity = yield* gameIdentity();
      const url = new URL((yield* identity.begin(signIn)).url);
      expect(url.origin + url.pathname).toBe("https://apis.roblox.com/oauth/v1/authorize");
      expect(Object.fromEntries(url.searchParams)).toMatchObject({
        client_id: application.clientId,
        scope: "openid",
        nonce: "nonce",
      });
    }),
  );

  it.live.each<[iss: string, expected: object]>([
    ["https://apis.roblox.com/oauth/", { userId: "1516563360" }],
    ["https://apis.roblox.com/oauth", { _tag: "ProofInvalid" }],
  ])("is the subject of an ID token of %s only if that is Roblox", ([iss, expected]) =>
    Effect.gen(function* () {
      const signer = yield* Effect.promise(makeIdTokenSigner);
      const claims = { iss, aud: application.clientId, sub: "1516563360", nonce: "nonce" };
      const { apiUrl, heard } = yield* startRoblox(async ({ path }) => {
        if (path === "/apis/oauth/v1/certs") return { body: { keys: [signer.publicKey] } };
        if (path !== "/apis/oauth/v1/token") return "cut";
        return { body: { ...tokens, scope: "openid", id_token: await signer.sign({ claims }) } };
      });
      const identity = yield* gameIdentity(apiUrl);
      const result = yield* identity.finish(signIn, callback).pipe(Effect.catch(Effect.succeed));
      expect(result).toMatchObject(expected);
      expect(Object.fromEntries(new URLSearchParams(heard[0]?.body))).toMatchObject(credentials);
    }),
  );
});
