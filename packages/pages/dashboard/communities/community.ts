/** Communities are data scopes with a name, as their owners see them. */
import type { DataScope } from "@accountlink/core";
import type { OwnedScope } from "@accountlink/core/communities";
import type { ParameterProblem } from "@accountlink/core/errors";
import { type Html, html } from "../../html.ts";
import { menuField } from "../look/field.ts";
import { listName } from "../look/list_name.ts";

/** A data scope with the name of its guild on the chat platform; null if unknown. */
export interface Community extends OwnedScope {
  readonly guildName: string | null;
}

export const communityMenu = (
  communities: ReadonlyArray<Community>,
  pid: string,
  problems: ReadonlyArray<ParameterProblem> = [],
): Html =>
  menuField({
    name: "pid",
    label: "List",
    value: pid,
    problems,
    choices: communities.map((one) => ({ value: one.scope.pid, label: listName(one) })),
  });

/** A menu of communities, hidden if there is only one. */
export const communityField: typeof communityMenu = (communities, pid, problems) =>
  communities.length < 2
    ? html`<input type="hidden" name="pid" value="${communities[0]?.scope.pid ?? ""}">`
    : communityMenu(communities, pid, problems);

/** The page where anyone links their accounts for a community. */
export const verifyUrl = (publicUrl: string, { pid }: Pick<DataScope, "pid">): string =>
  `${publicUrl}/verify?pid=${pid}`;
