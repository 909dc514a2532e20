/** Accounts that may belong to one person, and what moderators decided about them. */
import { AltDetection, AltReviews, type ChatId, type GameId, InvalidParameter } from "@accountlink/core";
import { parseAddress } from "@accountlink/core/addresses";
import { type AltVerdict, longestNote } from "@accountlink/core/alts";
import { isStorableUpTo } from "@accountlink/core/storable_text";
import { Context, Effect, Layer, Option } from "effect";
import * as Accept from "./accept.ts";
import { makeEmbedderKey } from "./embedder_key.ts";
import type { LookupOptions } from "./links.ts";
import { method, type Parameter } from "./method.ts";
import { type CallOptions, callGuild, Scope, type WriteOptions, writeTarget } from "./scope.ts";
import { withSpans } from "./spans.ts";

/** The user or address to check: at least one of the three fields. */
export interface AltQuestion {
  readonly chatId?: string;
  readonly gameId?: string;
  readonly address?: string;
}

export interface ReviewOptions extends WriteOptions {
  /** At most 500 characters. */
  readonly note?: string;
}

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
export class Alts extends Context.Service<Alts>()("accountlink/Alts", {
  make: Effect.gen(function* () {
    const scope = yield* Scope;
    const detection = yield* AltDetection;
    const reviews = yield* AltReviews;
    const embedderKey = yield* makeEmbedderKey(scope);

    return {
      /** Returns the accounts that may belong to the same person, with the evidence. */
      find: method(
        [asking, Accept.looking],
        Effect.fnUntraced(function* (question: AltQuestion, options?: LookupOptions) {
          const query = {
            chatId: (question.chatId ?? null) as ChatId | null,
            gameId: (question.gameId ?? null) as GameId | null,
            address: Option.getOrNull(parseAddress(question.address ?? "")),
          };
          if (Object.values(query).every((value) => value === null)) {
            return yield* InvalidParameter.one("chatId", "is missing, expected it, gameId or address");
          }
          return yield* detection.detect(scope, query, {
            guildId: callGuild(scope, options),
            resolved: options?.resolved ?? false,
            unknownMembers: "refuse",
          });
        }),
      ),

      /** Returns the newest 100 reviews that involve a chat user. */
      reviews: method([Accept.chatId, Accept.calling], (chatId: ChatId, options?: CallOptions) =>
        reviews.list({ scope, guildId: callGuild(scope, options) }, chatId),
      ),

      /** Records that two chat users are the same person, or different persons. A review overrides all evidence. */
      review: method(
        [Accept.chatId, otherChatId, ["verdict", Accept.oneOf(["different", "same"])], reviewing],
        Effect.fnUntraced(function* (
          chatId: ChatId,
          otherChatId: ChatId,
          verdict: AltVerdict,
          options?: ReviewOptions,
        ) {
          const { id: keyId } = yield* embedderKey;
          const review = {
            chatId,
            otherChatId,
            verdict,
            note: options?.note === "" ? null : (options?.note ?? null),
            keyId,
          };
          return yield* reviews.set(writeTarget(scope, options), review);
        }),
      ),

      /** Forgets what was decided about two chat users, so that the evidence counts again. */
      deleteReview: method(
        [Accept.chatId, otherChatId, Accept.writing],
        (chatId: ChatId, otherChatId: ChatId, options?: WriteOptions) =>
          reviews.remove(writeTarget(scope, options), { chatId, otherChatId }),
      ),
    };
  }).pipe(withSpans("Alts")),
}) {
  static readonly layer = Layer.effect(Alts, Alts.make);
}

const address = Accept.textThat((given) => Option.isSome(parseAddress(given)), "an IP address");
const asking: Parameter<AltQuestion> = [
  "question",
  Accept.fields({
    chatId: Accept.maybe(Accept.anyChatId),
    gameId: Accept.maybe(Accept.anyGameId),
    address: Accept.maybe(address),
  }),
];
const otherChatId: Parameter<ChatId> = ["otherChatId", Accept.anyChatId];
const note = Accept.textThat(
  (given) => isStorableUpTo(longestNote, given),
  `at most ${longestNote} characters, without NUL`,
);
const reviewing = Accept.options({ ...Accept.inGuild, ...Accept.byActor, note: Accept.maybe(note) });
