/** Asks before somebody becomes an owner, because owners can take every right from the others. */
import type { ChatId } from "@accountlink/core";
import { formTo, html, to } from "../../html.ts";
import { hiddenFields } from "../look/field.ts";
import type { Page } from "../page.ts";
import { paths } from "../paths.ts";

/** What another owner means for the owners who are there. */
export const ownerWarning =
  "An owner can change or remove every member of the team, you and the founder included, and delete the account with all its data.";

export const newOwnerPage = (chatId: ChatId, name: string): Page => ({
  title: `Make ${name} an owner?`,
  section: "team",
  content: html`
<p>${ownerWarning} ${name} may do all of that at once.</p>
${formTo(paths.teamRole)}
${hiddenFields({ chatId, [`role-${chatId}`]: "owner", confirm: "yes" })}
<p class="row"><button class="button bad">Make ${name} an owner</button> <a class="button quiet" href="${to(paths.team)}">Cancel</a></p>
</form>`,
});
