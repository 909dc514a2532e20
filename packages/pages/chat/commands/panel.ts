/** Posts a message with which members verify. */
import { Effect } from "effect";
import type { Answer, Asked, Listing } from "../command.ts";
import { makeCommunity } from "../community.ts";
import type { Message } from "../message.ts";

/** The most characters of a manager's text, in UTF-16 as the chat platform counts them. */
export const longestPanelText = 300;

/** The only command that answers to everybody. */
export const panelName = "panel";

/** Manage Server. */
const managing = 5;

export const panelListings: ReadonlyArray<Listing> = [
  {
    name: panelName,
    texts: { name: "chat.command.panel.name", description: "chat.command.panel.description" },
    option: "text",
    permission: managing,
  },
];

export const makePanel = Effect.map(makeCommunity, (community) => {
  const panel: Answer = Effect.fn("chat.panel")(function* ({ plan, text, language, guildLanguage }: Asked) {
    if (text !== null && text.length > longestPanelText) {
      return { content: language.text("chat.panel.too_long", { limit: longestPanelText }) } satisfies Message;
    }
    const sentence = text ?? guildLanguage.text("chat.panel.ask", { game: community.game(guildLanguage) });
    return {
      content: `**${yield* community.name(plan)}**\n${sentence}`,
      buttons: [
        { label: guildLanguage.text("chat.verify.start"), url: community.verifyUrl(plan) },
        { label: guildLanguage.text("chat.verify.roles"), action: "roles" },
      ],
      isPublic: true,
    } satisfies Message;
  });
  return panel;
});
