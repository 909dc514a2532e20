import type { ChatId } from "@accountlink/core";
import { type Member, memberOrder, membershipOrder } from "@accountlink/core/accounts";
import { Effect } from "effect";
import { table } from "../table.ts";
import type { Transaction } from "../transaction.ts";
import { accountAt, accountOf } from "./scopes.ts";

export interface StoredMember extends Omit<Member, "scopes"> {
  readonly account: number;
  /** Undefined in records of earlier releases, for all. */
  readonly scopes?: Member["scopes"];
}

export const members = table<StoredMember>()(
  "member",
  ({ account, chatId }) => [account, chatId],
  {
    byUser: { keys: ({ account, chatId }) => [[chatId, account]], group: 1 },
    byInviter: {
      keys: ({ account, chatId, invitedBy }) => (invitedBy === null ? [] : [[invitedBy, account, chatId]]),
      group: 1,
    },
  },
  1,
);

export const memberOf = ({ account: _, scopes = null, ...member }: StoredMember): Member => ({
  ...member,
  scopes,
});

export const membersOf = Effect.fnUntraced(function* (tx: Transaction, account: number) {
  return (yield* tx.scan(members, [account])).toSorted((one, other) =>
    memberOrder(memberOf(one), memberOf(other)),
  );
});

export const membershipsOf = Effect.fnUntraced(function* (tx: Transaction, chatId: ChatId) {
  const found = yield* tx.list(members.byUser, [chatId]);
  const memberships = yield* Effect.forEach(
    found,
    Effect.fnUntraced(function* (stored) {
      const { chatId: _, ...member } = memberOf(stored);
      return { ...member, account: accountOf(yield* accountAt(tx, stored.account)) };
    }),
  );
  return memberships.toSorted(membershipOrder);
});
