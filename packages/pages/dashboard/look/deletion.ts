/** What pages say and ask before owners delete lists of links. */
import type { OwnedScope } from "@accountlink/core/owners";
import { formTo, type Html, html, to } from "../../html.ts";
import { textField } from "./field.ts";
import { countText } from "./names.ts";
import type { Refused } from "./refused.ts";
import { counted } from "./time.ts";

export const deletionLabels = { confirm: "Confirmation" };

/** The links of lists, and what goes with them. */
export const linksOf = (lists: ReadonlyArray<Pick<OwnedScope, "links">>): Html => {
  const count = lists.reduce((sum, { links }) => sum + links.count, 0);
  const isCounted = lists.every(({ links }) => links.age !== null);
  const text = countText({ count, age: isCounted ? 0 : null });
  return html`${text} ${count === 1 ? "link" : "links"} of ${counted(lists.length, "list")}, with the addresses,
    browsers and notes that belong to them`;
};

/** @param name the text that the owner has to type */
export const confirmForm = (
  { action, back, name, label }: Readonly<Record<"action" | "back" | "name" | "label", string>>,
  refused: Refused | null,
): Html => html`
${formTo(action, html` class="panel danger"`)}
${textField({
  name: "confirm",
  label: html`Type <strong>${name}</strong> to confirm`,
  value: "",
  problems: refused?.problems ?? [],
  required: true,
  awaited: name,
})}
<p class="row"><button class="button bad">${label}</button> <a class="button quiet" href="${to(back)}">Keep it</a></p>
</form>`;
