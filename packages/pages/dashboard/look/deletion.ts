/** What pages say and ask before owners delete lists of links. */
import type { OwnedScope } from "@accountlink/core/owners";
import { type Html, html } from "../../html.ts";
import { buttonsOr, panelTo, textField } from "./field.ts";
import { linksText } from "./names.ts";
import { say, tags } from "./say.ts";

export const deletionLabels = { confirm: say("deletion.confirmation") };

/** The links of lists, and what goes with them. */
export const linksOf = (lists: ReadonlyArray<Pick<OwnedScope, "links">>): Html => {
  const count = lists.reduce((sum, { links }) => sum + links.count, 0);
  const isCounted = lists.every(({ links }) => links.age !== null);
  const links = linksText({ count, age: isCounted ? 0 : null });
  return say("deletion.links", { links, lists: lists.length });
};

interface Deletion extends Readonly<Record<"action" | "back" | "name", string>> {
  readonly label: Html;
  readonly more?: Html | null;
}

/** Asks the owner to type the name of the list or account to delete. */
export const confirmForm = ({ action, back, name, label, more = null }: Deletion): Html => panelTo(
  action,
  {},
  "panel danger",
)`
${textField({
  name: "confirm",
  label: say("deletion.type", { b: tags.b, name }),
  value: "",
  required: true,
  awaited: name,
})}
${more}
${buttonsOr(html`<button class="button bad">${label}</button>`, back, say("deletion.keep"))}`;
