/** Checks which game accounts communities offered to members who had proven them elsewhere. */
import type { Offer, Proof, Records } from "./behaviour.ts";
import { isOldChat, isOldGame } from "./people.ts";
import type { Check } from "./promise.ts";

const promise = "Offered are accounts that the member has proven elsewhere, and is linked to there still";

/** Whether a proof may have made a link to this account at another place before an offer was answered. */
const isGround = (offer: Offer, gameId: string, { chatId, place, isOwn, sent, ...proof }: Proof): boolean =>
  isOwn &&
  chatId === offer.chatId &&
  place !== offer.place &&
  proof.gameId === gameId &&
  sent.called <= offer.sent.ended;

/** Whether the member was unlinked elsewhere after the last proof there, before the offer was asked for. */
const isUnlinked = ({ removals, proofs }: Records, offer: Offer): boolean =>
  offer.place === "main" &&
  removals.some(
    ({ chatId, sent }) =>
      chatId === offer.chatId &&
      sent.outcome.kind === "answered" &&
      sent.ended < offer.sent.called &&
      proofs.every((proof) => proof.chatId !== chatId || proof.place === "main" || proof.until < sent.called),
  );

export const offers: Check = (records) =>
  records.offers.flatMap((offer) => {
    const { place, gameIds, chatId } = offer;
    const groundless = gameIds.filter(
      (gameId) => !records.proofs.some((each) => isGround(offer, gameId, each)),
    );
    const told = `${gameIds.join(", ")} was offered to ${chatId} for ${place}`;
    if (groundless.length > 0) return [{ promise, how: `${told}, without a proof elsewhere` }];
    if (gameIds.length > 0 && isUnlinked(records, offer))
      return [{ promise, how: `${told}, after the unlink` }];
    const { freshProof } = records.deployment.admission;
    if (gameIds.length > 0 && place === "main" && freshProof)
      return [{ promise: "A community that asks for its own proof is offered no account", how: told }];
    return gameIds.some((gameId) => !isAdmitted(records, { place, chatId, gameId }))
      ? [{ promise: "No account is offered that is too young", how: told }]
      : [];
  });

/** Whether a user may link at a place, which may ask for a minimum age of both accounts. */
const isAdmitted = (
  { deployment }: Records,
  { place, chatId, gameId }: Pick<Proof, "place" | "chatId" | "gameId">,
): boolean => {
  if (place !== "main") return true;
  const { minChatAgeDays, minGameAgeDays } = deployment.admission;
  return (minChatAgeDays === null || isOldChat(chatId)) && (minGameAgeDays === null || isOldGame(gameId));
};

export const admission: Check = (records) =>
  records.proofs.flatMap((proof) =>
    proof.sent.outcome.kind !== "answered" || isAdmitted(records, proof)
      ? []
      : [
          {
            promise: "No account that is too young is linked by a proof",
            how: `${proof.chatId} proved ${proof.gameId}`,
          },
        ],
  );
