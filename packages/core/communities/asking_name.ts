import { Context, Effect } from "effect";
import { hasAccepted, MemberStore } from "../accounts/member_store.ts";
import type { DataScope } from "../data_scope.ts";
import { Profiles } from "../platforms/profiles.ts";

/** Whether the service makes such names for accounts. They mean nothing to users. @internal */
export const isGenerated = (account: string): boolean => /^(?:chat|erased):/.test(account);

/**
 * What users read in place of the names of accounts. A program that names no account has one whose name means nothing to
 * them. @internal
 */
export const AskingNames = Context.Reference<Readonly<Record<string, string>>>(
  "@accountlink/core/AskingNames",
  { defaultValue: () => ({}) },
);

/**
 * Returns a function that names who asks users for a link: by the display name that the owners set, else by the guild
 * of a guild scope, else by the account's owner on the chat platform. @internal
 */
export const makeAskingName = Effect.gen(function* () {
  const members = yield* MemberStore;
  const profiles = yield* Profiles;
  const names = yield* AskingNames;

  const ownerName = Effect.fnUntraced(function* ({ account, pid }: DataScope) {
    const owner = (yield* members.list(account)).find((each) => each.role === "owner" && hasAccepted(each));
    const profile = owner === undefined ? null : yield* profiles.chat(owner.chatId, null);
    const known = profile?.displayName ?? profile?.username;
    return known ?? names[account] ?? (isGenerated(account) ? (owner?.chatId ?? pid) : account);
  });

  return Effect.fnUntraced(function* (
    scope: DataScope,
    { displayName, guildName }: { readonly displayName: string | null; readonly guildName: string | null },
  ) {
    const named = displayName ?? (scope.kind === "guild" ? guildName : null);
    return named ?? (yield* ownerName(scope));
  });
});
