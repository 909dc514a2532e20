/** Removes the link of the member who asks, after a confirmation. */
import { OwnLinks } from "@accountlink/core/users";
import { Effect } from "effect";
import type { Answer, Asked, Listing } from "../command.ts";
import { makeCommunity } from "../community.ts";
import type { Message } from "../message.ts";

export const unlinkListings: ReadonlyArray<Listing> = [
  {
    name: "unlink",
    texts: { name: "chat.command.unlink.name", description: "chat.command.unlink.description" },
    permission: null,
  },
];

export const makeUnlink = Effect.gen(function* () {
  const links = yield* OwnLinks;
  const community = yield* makeCommunity;

  const say = (text: "chat.unlink.none" | "chat.unlink.done", { plan, language }: Asked) =>
    Effect.map(
      community.name(plan),
      (name): Message => ({
        content: language.text(text, { game: community.game(language), community: name }),
      }),
    );

  const ask: Answer = Effect.fn("chat.unlink")(function* (asked: Asked) {
    const { plan, chatId, language } = asked;
    const link = yield* community.findLink(plan, chatId);
    if (link === null) return yield* say("chat.unlink.none", asked);
    return {
      content: language.text("chat.unlink.ask", { account: yield* community.account(link.gameId) }),
      buttons: [{ label: language.text("chat.unlink.yes"), action: "unlink:yes", isDangerous: true }],
    } satisfies Message;
  });

  const confirm: Answer = (asked) =>
    links.remove(asked.chatId, asked.plan.scope.pid, asked.requestId).pipe(
      Effect.catchTag("LinkNotFound", () => Effect.void),
      Effect.andThen(say("chat.unlink.done", asked)),
      Effect.withSpan("chat.unlink:yes"),
    );

  return { ask, confirm };
});
