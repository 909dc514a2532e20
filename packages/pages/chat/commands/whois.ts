/** Shows moderators the linked account of a member. */
import { MemberStore } from "@accountlink/core/accounts";
import { makeByHand } from "@accountlink/core/communities";
import { HttpSettings } from "@accountlink/http/for_pages";
import { Effect } from "effect";
import { type Answer, type Asked, type Listing } from "../command.ts";
import { makeCommunity } from "../community.ts";
import { dayText, userText } from "../markdown.ts";
import type { Button, Message } from "../message.ts";

/** Moderate Members. */
const permission = 40;

export const whoisListings: ReadonlyArray<Listing> = [
  {
    name: "whois",
    texts: { name: "chat.command.whois.name", description: "chat.command.whois.description" },
    option: "user",
    permission,
  },
  {
    name: "Linked account",
    texts: { name: "chat.command.whois.menu", description: null },
    permission,
  },
];

export const makeWhois = Effect.gen(function* () {
  const members = yield* MemberStore;
  const byHandOf = yield* makeByHand;
  const community = yield* makeCommunity;
  const { publicUrl } = yield* HttpSettings;

  /** The user's page on the dashboard, for members of the account. */
  const pageButton = Effect.fnUntraced(function* ({ plan: { scope }, chatId, target, language }: Asked) {
    const memberships = yield* members.findByChatId(chatId);
    const isMember = memberships.some(
      ({ account, chosenAt }) => account.name === scope.account && chosenAt !== null,
    );
    const query = new URLSearchParams({ pid: scope.pid, chatId: target }).toString();
    const button: Button = {
      label: language.text("chat.whois.open"),
      url: `${publicUrl}/dashboard/links/user?${query}`,
    };
    return isMember ? [button] : [];
  });

  const whois: Answer = Effect.fn("chat.whois")(function* (asked: Asked) {
    const { plan, target, language } = asked;
    const user = userText(target);
    const link = yield* community.findLink(plan, target);
    const buttons = yield* pageButton(asked);
    if (link === null)
      return { content: language.text("chat.whois.none", { user }), buttons } satisfies Message;
    const isByHand = (yield* byHandOf(plan.scope, [link])).has(target);
    const account = yield* community.account(link.gameId);
    const values = { user, account, time: dayText(link.linkedAt) };
    return {
      content: language.text(isByHand ? "chat.whois.by_hand" : "chat.whois.verified", values),
      buttons,
    } satisfies Message;
  });
  return whois;
});
