/** Asks before somebody becomes an owner, because owners can take every right from the others. */
import type { ChatId } from "@accountlink/core";
import { formTo, html, to } from "../../html.ts";
import { hiddenFields } from "../look/field.ts";
import { say } from "../look/say.ts";
import type { Page } from "../page.ts";
import { paths } from "../paths.ts";

export const newOwnerPage = (chatId: ChatId, name: string): Page => ({
  title: say("team.make_owner.ask", { name }),
  section: "team",
  content: html`
<p>${say("team.owner_warning")} ${say("team.make_owner.text", { name })}</p>
${formTo(paths.teamRole)}
${hiddenFields({ chatId, [`role-${chatId}`]: "owner", confirm: "yes" })}
<p class="row"><button class="button bad">${say("team.make_owner", { name })}</button> <a class="button quiet" href="${to(paths.team)}">${say("link.cancel")}</a></p>
</form>`,
});
