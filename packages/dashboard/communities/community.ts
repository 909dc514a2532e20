/**
 * Communities as their owners see them: data scopes with a name.
 */
import { type DataScope, guildOf } from "@accountlink/core";
import type { OwnedScope } from "@accountlink/core/communities";

/** A data scope with the name of its guild on the chat platform; null for none. */
export interface Community extends OwnedScope {
  readonly guildName: string | null;
}

/** What a community is called. */
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

/** Where anybody links their accounts for a community. */
export const verifyUrl = (publicUrl: string, { pid }: Pick<DataScope, "pid">): string =>
  `${publicUrl}/verify?pid=${pid}`;
