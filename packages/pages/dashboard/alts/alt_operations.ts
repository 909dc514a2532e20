import { AltReviews, type ChatId, guildOf } from "@accountlink/core";
import { type FoundSuspect, makeAltQueue, type SuspectedLink, severityOf } from "@accountlink/core/alts";
import { InvalidParameter } from "@accountlink/core/errors";
import { originOf } from "@accountlink/core/keys";
import { pageOf } from "@accountlink/core/list_page";
import { OwnedScopes } from "@accountlink/core/owners";
import { formatTimestamp } from "@accountlink/core/timestamp";
import { toEvidence, toReview } from "@accountlink/http/for_pages";
import { DashboardAlts } from "@accountlink/http-api";
import { Effect } from "effect";
import { type ManagerInput, makeOperation } from "../api_pipeline.ts";
import { memberCursorOf } from "../links/link_operations.ts";

/** What members and keys do with alts, by JSON and by the forms of the pages. */
export const makeAltOperations = Effect.gen(function* () {
  const operation = yield* makeOperation;
  const scopes = yield* OwnedScopes;
  const reviews = yield* AltReviews;
  const queueOf = yield* makeAltQueue;

  const targetOf = ({ owner }: ManagerInput<{}>, pid: string) =>
    Effect.map(scopes.find(owner, pid), (scope) => ({
      scope,
      guildId: guildOf(scope),
      origin: originOf(owner),
    }));

  return {
    queue: operation(DashboardAlts.getAltQueue, function* ({ owner, values: { pid, limit, cursor } }) {
      const queue = yield* queueOf(yield* scopes.find(owner, pid));
      const rest =
        cursor === null
          ? queue
          : queue.filter(
              ([{ at, chatId }]) => at < cursor.at || (at === cursor.at && chatId > cursor.chatId),
            );
      const { page, last } = pageOf(rest, limit);
      return { links: page.map(linkJson), next: last && memberCursorOf(last[0]) };
    }),

    reviews: operation(DashboardAlts.getReviews, function* (input) {
      const { pid, chatId } = input.values;
      const found = yield* reviews.list(yield* targetOf(input, pid), chatId);
      return { reviews: found.map(toReview) };
    }),

    review: operation(
      DashboardAlts.putReview,
      function* (input) {
        const { pid, ...review } = input.values;
        yield* requireOther(selfOf(input), review);
        const keyId = "key" in input.owner ? input.owner.key.id : null;
        return yield* reviews.set(yield* targetOf(input, pid), { ...review, keyId });
      },
      (review) => ({ review: toReview(review) }),
    ),

    forget: operation(DashboardAlts.deleteReview, function* (input) {
      const { pid, ...pair } = input.values;
      yield* requireOther(selfOf(input), pair);
      return yield* reviews.remove(yield* targetOf(input, pid), pair);
    }),
  };
});

/** The chat ID of a member who may not review pairs with themself; null for owners and keys, who answer to nobody. */
export const selfOf = ({ owner, role }: Pick<ManagerInput<{}>, "owner" | "role">): ChatId | null =>
  "key" in owner || role === "owner" ? null : owner.chatId;

const requireOther = (
  self: ChatId | null,
  { chatId, otherChatId }: { readonly chatId: ChatId; readonly otherChatId: ChatId },
) =>
  self === chatId || self === otherChatId
    ? InvalidParameter.one("otherChatId", { is: "own_accounts" })
    : Effect.void;

const linkJson = (pairs: SuspectedLink) => {
  const [{ chatId, gameId, at }] = pairs;
  return { chatId, gameId, at: formatTimestamp(at), matches: pairs.map(matchJson) };
};

const matchJson = ({ otherChatId, score, evidence, verdict }: FoundSuspect) => ({
  chatId: otherChatId,
  score,
  severity: severityOf(score),
  evidence: evidence.map(toEvidence),
  verdict,
});
