import type { ChatId } from "./ids.ts";

/** @internal */
export const tiers = ["free", "premium"] as const;

export type Tier = (typeof tiers)[number];

/** Keys of a suspended account are refused, and nobody can sign in to it. */
export type AccountStatus = "active" | "suspended";

/** An account that may not exist yet. */
export interface NewAccount {
  readonly name: string;
  readonly chatId: ChatId | null;
  readonly tier: Tier;
  /**
   * Whether the account is the operator's own: its keys may name every guild, and its links have no cap. When left out,
   * an account without `chatId` is. Only the operator makes such an account, and it ends with the first owner or admin.
   */
  readonly operator?: boolean;
}

/** An owner of keys. The chat user in `chatId` can sign in to the dashboard. */
export interface Account extends NewAccount {
  readonly status: AccountStatus;
  readonly operator: boolean;
  /** The name that an owner gave the account. Left out until then. No two accounts have one name. */
  readonly displayName?: string;
}

/** Returns the name by which people know an account: the one that an owner gave it, else its own. @internal */
export const shownName = ({ name, displayName }: Pick<Account, "name" | "displayName">): string =>
  displayName ?? name;

/** Returns the name that the service gives the account of a chat user. @internal */
export const generatedName = (chatId: ChatId): string => `chat:${chatId}`;

/**
 * Returns whether an account has the ID of a chat user: as its `chatId`, or in its name after the user who founded it has
 * stepped down. @internal
 */
export const isAccountOf = ({ name, chatId, operator }: Account, user: ChatId): boolean =>
  chatId === user || (chatId === null && !operator && `${name}:`.startsWith(`${generatedName(user)}:`));

/** Returns whether a new account is the operator's own. @internal */
export const isOperators = ({ chatId, operator = chatId === null }: NewAccount): boolean => operator;
