/** Communities as their owners see them: data scopes with a name. */
import { type DataScope, guildOf } from "@accountlink/core";
import type { OwnedScope } from "@accountlink/core/communities";
import type { ParameterProblem } from "@accountlink/core/errors";
import { type Html, html } from "../../html.ts";
import { menuField } from "../look/field.ts";

/** A data scope with the name of its guild on the chat platform; null for none. */
export interface Community extends OwnedScope {
  readonly guildName: string | null;
}

export const communityName = ({
  scope,
  guildName,
}: {
  readonly scope: DataScope;
  readonly guildName: string | null;
}): string => {
  const guildId = guildOf(scope);
  return guildId === null ? "All communities" : (guildName ?? `Community ${guildId}`);
};

/** What a community is called within a sentence. */
export const communityText = (community: Parameters<typeof communityName>[0]): string =>
  community.scope.kind === "global" ? "all communities" : communityName(community);

export const communityMenu = (
  communities: ReadonlyArray<Community>,
  pid: string,
  problems: ReadonlyArray<ParameterProblem> = [],
): Html =>
  menuField({
    name: "pid",
    label: "Community",
    value: pid,
    problems,
    choices: communities.map((one) => ({ value: one.scope.pid, label: communityName(one) })),
  });

/** A menu of communities, hidden where there is nothing to choose. */
export const communityField: typeof communityMenu = (communities, pid, problems) =>
  communities.length < 2
    ? html`<input type="hidden" name="pid" value="${communities[0]?.scope.pid ?? ""}">`
    : communityMenu(communities, pid, problems);

/** Where anybody links their accounts for a community. */
export const verifyUrl = (publicUrl: string, { pid }: Pick<DataScope, "pid">): string =>
  `${publicUrl}/verify?pid=${pid}`;
