/** Shows members their linked account, and how to link one. */
import { Effect } from "effect";
import type { Answer, Asked, Listing } from "../command.ts";
import { makeCommunity } from "../community.ts";
import { dayText } from "../markdown.ts";
import type { Message } from "../message.ts";

export const verifyListings: ReadonlyArray<Listing> = [
  {
    name: "verify",
    texts: { name: "chat.command.verify.name", description: "chat.command.verify.description" },
    permission: null,
  },
];

export const makeVerify = Effect.map(makeCommunity, (community) => {
  const verify: Answer = Effect.fn("chat.verify")(function* ({ plan, chatId, language }: Asked) {
    const [link, name] = yield* Effect.all([community.findLink(plan, chatId), community.name(plan)], {
      concurrency: 2,
    });
    const url = community.verifyUrl(plan);
    if (link === null) {
      return {
        content: language.text("chat.verify.ask", { game: community.game(language), community: name }),
        buttons: [{ label: language.text("chat.verify.start"), url }],
      } satisfies Message;
    }
    const account = yield* community.account(link.gameId);
    return {
      content: language.text("chat.verify.linked", {
        community: name,
        account,
        time: dayText(link.linkedAt),
      }),
      buttons: [
        { label: language.text("chat.verify.roles"), action: "roles" },
        { label: language.text("chat.verify.other"), url },
        { label: language.text("chat.verify.unlink"), action: "unlink", isDangerous: true },
      ],
    } satisfies Message;
  });
  return verify;
});
