import type { Block } from "@accountlink/core/admission";
import { formTo, type Html, html } from "../../html.ts";
import { say, tags } from "../look/say.ts";
import { paths } from "../paths.ts";

/**
 * The button that ends the blocks of the users who are given.
 *
 * @param page the chat user whose page has the button; null in the list of blocks
 */
export const unblockForm = (
  pid: string,
  { chatId, gameId }: Pick<Block, "chatId" | "gameId">,
  page: string | null,
): Html => {
  const id = chatId ?? gameId;
  return id === null
    ? html`–`
    : formTo(paths.unblock, {
        pid,
        ...(page !== null && { user: page }),
        ...(chatId !== null && { chatId }),
        ...(gameId !== null && { gameId }),
      })`
<button class="button quiet small">${say("blocks.end", { unseen: tags.unseen, id })}</button>`;
};
