import { Context, Effect, Layer, Option, type Redacted } from "effect";
import { Aead, Mac } from "effect/crypto";
import { Base64Url } from "effect/encoding";
import {
  type ChatId,
  type FlowId,
  type GameId,
  type GuildId,
  type Pid,
  SessionId,
  Sid,
  type SignInId,
} from "../ids.ts";
import { deriveKey, makeSealing, webCrypto, webhookSignature } from "./crypto.ts";
import { RootKey } from "./root_key.ts";
import { codeOfNumber } from "./session_code.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Keyed hashes and encryption of the deployment. Without the root key, hashes can neither be computed nor checked. */
export class Secrets extends Context.Service<Secrets>()("@accountlink/core/Secrets", {
  make: Effect.gen(function* () {
    const mac = yield* Mac.Mac;
    const rootKey = yield* RootKey;

    const signerFor = Effect.fnUntraced(function* (purpose: string) {
      const key = yield* Mac.key(Mac.hmacSha256, yield* deriveKey(rootKey, purpose));
      return (text: string) => mac.sign(key, encoder.encode(text)).pipe(Effect.orDie);
    });
    /** Makes a function that returns the first `length` bytes of a text's signature in base64url. */
    const hasherFor = (purpose: string, length = 32) =>
      Effect.map(
        signerFor(purpose),
        (sign) => (text: string) =>
          Effect.map(sign(text), (tag) => Base64Url.encode(tag.subarray(0, length))),
      );
    const linkHash = yield* hasherFor("link-hash", 24);
    const addressHash = yield* hasherFor("address-name", 16);
    const cookieHash = yield* hasherFor("flow-id");
    const formHash = yield* hasherFor("flow-csrf");
    const signVerification = yield* signerFor("verification");
    const verificationHash = (use: string, text: string) =>
      Effect.map(signVerification(`${use}\n${text}`), Base64Url.encode);
    const blockHash = yield* hasherFor("block");
    const reminderHash = yield* hasherFor("reminder");
    const codeHash = (code: string) => verificationHash("code", code);
    const sidKey = (code: string) =>
      signVerification(`sid-key\n${code}`).pipe(
        Effect.flatMap((bytes) => Aead.key(Aead.aes256Gcm, bytes)),
        Effect.orDie,
      );
    const signInHash = yield* hasherFor("sign-in");
    const idempotencyHash = yield* hasherFor("idempotency");
    const answerKey = yield* Aead.key(Aead.aes256Gcm, yield* deriveKey(rootKey, "kept-answer"));
    const webhookKey = yield* Aead.key(Aead.aes256Gcm, yield* deriveKey(rootKey, "webhook-secret"));
    const laneHash = yield* hasherFor("webhook-lane", 16);
    const { seal, unseal } = yield* makeSealing;
    const deployment = yield* deriveKey(rootKey, "deployment-id");

    return {
      /** A public id of the deployment, equal on every node. 22 base64url characters. */
      deploymentId: Base64Url.encode(deployment.subarray(0, 16)),

      /** Hashes a whole API key for storage: HMAC-SHA-256, base64url. */
      keyHash: yield* hasherFor("key-hash"),

      /** Hashes a link's scope, chat ID, game ID and version. 32 base64url characters. */
      linkHash: (
        pid: Pid,
        link: { readonly chatId: ChatId; readonly gameId: GameId; readonly linkVersion: number },
      ) => linkHash(`${pid}\n${link.chatId}\n${link.gameId}\n${link.linkVersion}`),

      /** Returns a pseudonym of a client address, for counters and logs. 22 base64url characters. */
      addressName: ({ countedAs }: { readonly countedAs: string }) => addressHash(countedAs),

      /** Returns a pseudonym for the name of a counter, which outlives the erasure of the user in its subject. */
      counterName: (subject: string) => addressHash(subject),

      /** Returns the stored id of a verification flow: a hash of its browser's cookie. */
      flowId: (cookie: string) => Effect.map(cookieHash(cookie), (hash) => hash as FlowId),

      /** Hashes a browser's mark, a random text from its cookie, for storage. 43 base64url characters. */
      browserHash: yield* hasherFor("browser"),

      /** Hashes the chat ID of an erased owner of a suspended account, for storage. 43 base64url characters. */
      ownerHash: yield* hasherFor("suspended-owner"),

      /** Hashes a blocked user for storage: an erasure leaves the hash. 43 base64url characters. */
      blockHash: (
        pid: Pid,
        { chatId, gameId }: { readonly chatId: ChatId | null; readonly gameId: GameId | null },
      ) => blockHash(chatId === null ? `${pid}\ngame\n${gameId}` : `${pid}\nchat\n${chatId}`),

      /** Hashes a member of a guild who was reminded to link, the same in every scope. */
      reminderHash: (guildId: GuildId, chatId: ChatId) => reminderHash(`${guildId}\n${chatId}`),

      /** Returns the stored id of a verification session: a hash of its sid. */
      sessionId: (sid: Sid) =>
        Effect.map(verificationHash("sid", sid), (hash) => SessionId.make(`vs_${hash}`)),

      sessionCode: (sid: Sid) =>
        Effect.map(signVerification(`code-of\n${sid}`), (tag) =>
          codeOfNumber(new DataView(tag.buffer, tag.byteOffset).getBigUint64(0)),
        ),

      /** Prepares a session's code for storage: hashes the code, and encrypts the `sid` under the code. */
      sealSid: (code: string, sid: Sid) =>
        Effect.gen(function* () {
          const sealedSid = yield* seal(yield* sidKey(code), encoder.encode(sid), "sid");
          return { hash: yield* codeHash(code), sealedSid };
        }),

      /** Returns the hash that finds a session by its code. */
      codeHash,

      /** Decrypts the sid that was encrypted under a code. None if the text was changed. */
      openSid: (code: string, sealed: string) =>
        Effect.flatMap(sidKey(code), (key) => unseal(key, sealed, "sid")).pipe(
          Effect.map(Option.map((bytes) => Sid.make(decoder.decode(bytes)))),
        ),

      /** Derives the stored hash and the other secrets of a sign-in from its `state`. 43 characters each. */
      signIn: (state: string) =>
        Effect.all({
          stateHash: verificationHash("state", state),
          codeVerifier: verificationHash("code-verifier", state),
          nonce: verificationHash("nonce", state),
        }),

      /** Returns the CSRF token of a flow's forms, derived from the flow and its session or scope. */
      flowCsrf: (id: FlowId, subject: SessionId | Pid) => formHash(`${id}\n${subject}`),

      /** Signs the last page of a flow, which its browser keeps. 43 base64url characters. */
      lastPageTag: yield* hasherFor("flow-last-page"),

      /** Returns the random bytes of the words that prove a game account in a flow. 32 bytes. */
      flowWords: (seed: string, gameId: GameId) => signVerification(`words\n${seed}\n${gameId}`),

      /** Returns the stored id of a sign-in to a site: a hash of its browser's cookie. */
      signInId: (site: string, cookie: string) =>
        Effect.map(signInHash(`id\n${site}\n${cookie}`), (hash) => hash as SignInId),

      /** Returns the CSRF token of a sign-in. All requests of the sign-in use the same token. */
      signInCsrf: (id: SignInId, account: string | null) => signInHash(`csrf\n${id}\n${account ?? ""}`),

      /** Hashes an idempotency key, or the content of a request that has one. 43 characters. */
      idempotencyHash: (use: "key" | "request", text: string) => idempotencyHash(`${use}\n${text}`),

      /**
       * Returns the keyed hash of a place in a feed or list. A cursor contains the hash, which proves that this
       * deployment made the cursor. 22 characters.
       */
      cursorTag: yield* hasherFor("cursor", 16),

      sealAnswer: (id: string, text: string) => seal(answerKey, encoder.encode(text), id),

      /** Decrypts an answer that `sealAnswer` encrypted for the same id. Dies for any other text. */
      openAnswer: (id: string, sealed: string) =>
        unseal(answerKey, sealed, id).pipe(
          Effect.map(Option.getOrThrowWith(() => new Error("Cannot open a kept answer: it was changed"))),
          Effect.map((bytes) => decoder.decode(bytes)),
        ),

      /** Encrypts the 32-byte secret with which the events for a webhook are signed. */
      sealWebhookSecret: (webhook: string, secret: Uint8Array) => seal(webhookKey, secret, webhook),

      /** Signs a text with a webhook's encrypted secret: HMAC-SHA-256, base64. Dies for another webhook's secret. */
      signWebhook: (webhook: string, sealed: string, text: string) =>
        unseal(webhookKey, sealed, webhook).pipe(
          Effect.map(
            Option.getOrThrowWith(() => new Error("Cannot open a webhook's secret: it was changed")),
          ),
          Effect.flatMap((secret) => webhookSignature(secret, text)),
          Effect.provideService(Mac.Mac, mac),
          Effect.orDie,
        ),

      /**
       * Returns a pseudonym of a chat user for one webhook. Events with the same pseudonym are delivered in order. 22
       * base64url characters.
       */
      webhookLane: (webhook: string, chatId: string) => laneHash(`${webhook}\n${chatId}`),
    };
  }).pipe(Effect.orDie),
}) {
  /** Each purpose has its own key, derived from the root key with HKDF-SHA-256. */
  static readonly layer = Layer.effect(Secrets, Secrets.make);

  static readonly layerWebCrypto = (rootKey: Redacted.Redacted<Uint8Array>): Layer.Layer<Secrets> =>
    Secrets.layer.pipe(Layer.provide([Layer.succeed(RootKey, rootKey), webCrypto]));
}
