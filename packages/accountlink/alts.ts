/** Accounts that may belong to one person, and what moderators decided about them. */
import {
  AltDetection,
  AltReviews,
  type Conflict,
  InvalidParameter,
  type StoreUnavailable,
} from "@accountlink/core";
import { parseAddress } from "@accountlink/core/addresses";
import {
  type AltReport,
  type AltReview,
  type AltReviewRemoved,
  type AltVerdict,
  longestNote,
} from "@accountlink/core/alts";
import type { GuildError } from "@accountlink/core/platforms";
import { isStorableUpTo } from "@accountlink/core/storable_text";
import { Context, Effect, Layer, Option } from "effect";
import { makeEmbedderKey } from "./embedder_key.ts";
import { chatIdOf, gameIdOf } from "./ids.ts";
import type { LookupOptions } from "./links.ts";
import { type CallOptions, callGuild, Scope, type WriteOptions, writeTarget } from "./scope.ts";
import { checked, signatures } from "./signatures.ts";

/** The user or address to check: at least one of the three fields. */
export interface AltQuestion {
  readonly chatId?: string;
  readonly gameId?: string;
  readonly address?: string;
}

type ReadError = InvalidParameter | GuildError | StoreUnavailable;
type WriteError = ReadError | Conflict;

/**
 * Alt detection in a scope. The addresses that it compares come from confirmed verifications.
 *
 * @example
 * ```ts
 * import { Effect } from "effect";
 *
 * const program = Effect.gen(function* () {
 *   const alts = yield* Alts;
 *   yield* alts.review("100001", "100002", "same", { note: "They told us" });
 *   return (yield* alts.find({ chatId: "100001" })).matches.map(({ chatId }) => chatId);
 * });
 * const service = AccountLink.layerMemory({ gameUserExists: () => true });
 * await Effect.runPromise(Effect.provide(program, service)); // ["100002"]
 * ```
 */
export class Alts extends Context.Service<
  Alts,
  {
    readonly find: (question: AltQuestion, options?: LookupOptions) => Effect.Effect<AltReport, ReadError>;

    /** Returns the newest 100 reviews that involve a chat user. */
    readonly reviews: (
      chatId: string,
      options?: CallOptions,
    ) => Effect.Effect<ReadonlyArray<AltReview>, ReadError>;

    /** Records that two chat users are the same person, or different persons. A review overrides all evidence. */
    readonly review: (
      chatId: string,
      otherChatId: string,
      verdict: AltVerdict,
      options?: WriteOptions & {
        /** At most 500 characters. */
        readonly note?: string;
      },
    ) => Effect.Effect<AltReview, WriteError>;

    readonly deleteReview: (
      chatId: string,
      otherChatId: string,
      options?: WriteOptions,
    ) => Effect.Effect<AltReviewRemoved, WriteError>;
  }
>()("accountlink/Alts") {
  static readonly layer = Layer.effect(
    Alts,
    Effect.gen(function* () {
      const scope = yield* Scope;
      const detection = yield* AltDetection;
      const reviews = yield* AltReviews;
      const embedderKey = yield* makeEmbedderKey(scope);

      const pairOf = Effect.fnUntraced(function* (chatId: string, otherChatId: string) {
        return { chatId: yield* chatIdOf(chatId), otherChatId: yield* chatIdOf(otherChatId, "otherChatId") };
      });

      return Alts.of(
        checked<Alts["Service"]>(
          {
            find: Effect.fnUntraced(function* (
              { chatId, gameId, address },
              { resolved = false, ...options } = {},
            ) {
              const query = {
                chatId: chatId === undefined ? null : yield* chatIdOf(chatId),
                gameId: gameId === undefined ? null : yield* gameIdOf(gameId),
                address: address === undefined ? null : yield* addressOf(address),
              };
              if (Object.values(query).every((value) => value === null)) {
                return yield* InvalidParameter.one("chatId", "is missing, expected it, gameId or address");
              }
              const guildId = yield* callGuild(scope, options);
              return yield* detection.detect(scope, query, { guildId, resolved, unknownMembers: "refuse" });
            }),

            reviews: Effect.fnUntraced(function* (chatId, options) {
              const guildId = yield* callGuild(scope, options);
              return yield* reviews.list({ scope, guildId }, yield* chatIdOf(chatId));
            }),

            review: Effect.fnUntraced(function* (
              chatId,
              otherChatId,
              verdict,
              { note = "", ...options } = {},
            ) {
              if (!isStorableUpTo(longestNote, note)) {
                return yield* InvalidParameter.one(
                  "note",
                  `expected at most ${longestNote} characters, without NUL`,
                );
              }
              const pair = yield* pairOf(chatId, otherChatId);
              const { id: keyId } = yield* embedderKey;
              const review = { ...pair, verdict, note: note === "" ? null : note, keyId };
              return yield* reviews.set(yield* writeTarget(scope, options), review);
            }),

            deleteReview: Effect.fnUntraced(function* (chatId, otherChatId, options) {
              return yield* reviews.remove(
                yield* writeTarget(scope, options),
                yield* pairOf(chatId, otherChatId),
              );
            }),
          },
          signatures.alts,
        ),
      );
    }),
  );
}

const addressOf = (text: string) =>
  Option.match(parseAddress(text), {
    onNone: () => Effect.fail(InvalidParameter.one("address", "expected an IP address")),
    onSome: Effect.succeed,
  });
