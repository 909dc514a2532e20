import type { FlowView } from "@accountlink/core/flow";
import { accountName, cardHtml } from "../account_card.ts";
import { type Html, html } from "../html.ts";
import { said } from "../said.ts";

/** Says who has the game account, and loses it with the confirmation. */
export const takenNote = ({ takenFrom, game }: FlowView): Html | null =>
  takenFrom &&
  html`
<p>${said("flow.taken.text", {
    account: game === null ? "" : accountName(game),
    other: accountName(takenFrom),
  })}</p>
${cardHtml(takenFrom)}`;
