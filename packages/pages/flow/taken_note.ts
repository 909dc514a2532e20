import type { FlowView } from "@accountlink/core/flow";
import { cardHtml, chatCard, gameCard } from "../account_card.ts";
import { type Html, html } from "../html.ts";
import { own } from "../languages/language.ts";
import type { Reader } from "../page_render.ts";

/** Says who has the game account, and loses it with the confirmation. */
export const takenNote = ({ takenFrom, game }: FlowView, { language, chatName }: Reader): Html | null =>
  takenFrom &&
  html`
<p>${language.html("flow.taken.text", {
    account: own(game === null ? "" : gameCard(game, language).name),
    other: own(chatCard(takenFrom, language).name),
    chatName,
  })}</p>
${cardHtml(chatCard(takenFrom, language))}`;
