/** Members of accounts in any storage. */
import { Effect } from "effect";
import { accountQueue, changeInSteps, closeAccount, type Unfinished } from "./account_end.ts";
import {
  type ChoiceOutcome,
  decideMember,
  hasAccepted,
  hasLapsed,
  type Member,
  type MemberChanged,
  type MemberRefusal,
  MemberStore,
  memberRecords,
  membershipsOf,
  newMember,
  runsAccount,
  runsTooMany,
} from "./accounts/member_store.ts";
import type { RecordOf, RecordType } from "./records/record_type.ts";
import { recordStore, removeFound, type Tx } from "./records/records.ts";
import { siteSignIns } from "./sign_ins/sign_in_store.ts";

const memberOf = ({ account: _, ...member }: RecordOf<typeof memberRecords>): Member => member;

const nothingClosed = { revoked: [], isMore: false };

/** @internal */
export const storedMembers = recordStore(MemberStore, ({ read, write, mostWritten }) => {
  /** Deletes found records until the write is full. Returns whether some are left. */
  const removeSome = <R extends object>(tx: Tx, type: RecordType<R>, found: ReadonlyArray<R>) => {
    const some = found.slice(0, tx.isFull() ? 0 : mostWritten);
    return Effect.as(removeFound(type)(tx, some), some.length < found.length);
  };

  return {
    list: (name) =>
      read("list", function* (tx) {
        const account = yield* tx.accountId(name);
        return account === undefined
          ? []
          : (yield* tx.list(memberRecords.byAccount, [account])).map(memberOf);
      }),

    findByChatId: (chatId) => read("findByChatId", (tx) => membershipsOf(tx, chatId)),

    change: ({ account: name, change, ...origin }) => {
      const { chatId } = change;
      const { actor, at } = origin;
      const added = newMember(origin);
      // Writes of both users wait for their erasures, so that none leaves a member behind.
      const users = added.invitedBy === null ? [chatId] : [chatId, added.invitedBy].toSorted();
      return changeInSteps((revokedBefore) =>
        write<MemberChanged | MemberRefusal | Unfinished>(
          "change",
          [accountQueue(name), ...users],
          function* (tx) {
            const account = yield* tx.account(name);
            if (account === undefined) return "unknown";
            const all = yield* tx.list(memberRecords.byAccount, [account.id]);
            const lapsed = all.filter((member) => hasLapsed(member, at));
            if (yield* removeSome(tx, memberRecords, lapsed)) return { unfinished: [] };
            const current = all.filter((member) => !hasLapsed(member, at));
            const isFull = actor.type !== "operator" && runsTooMany(yield* membershipsOf(tx, chatId), name);
            const decision = decideMember(current, change, isFull);
            if (typeof decision === "string") return decision;
            const { role, scopes, closes, action } = decision;
            const closed = closes ? yield* closeAccount(tx, account, at) : nothingClosed;
            if (closed.isMore) return { unfinished: closed.revoked };
            const signIns = role === null ? yield* tx.list(siteSignIns.byUser, [chatId]) : [];
            const ended = signIns.filter((signIn) => signIn.account === name);
            if (yield* removeSome(tx, siteSignIns, ended)) return { unfinished: closed.revoked };
            const revokedKeys = [...revokedBefore, ...closed.revoked];
            const details = { ...decision.details, ...(closes && { revokedKeys: revokedKeys.length }) };
            yield* tx.journal({ ...origin, pid: null, account: account.id }, action, details);
            if (role === null) {
              yield* tx.remove(memberRecords, account.id, chatId);
            } else {
              const before = current.find((member) => member.chatId === chatId);
              const member = { account: account.id, chatId, ...added, ...before, role, scopes };
              yield* tx.put(memberRecords, member);
            }
            yield* tx.putAccount({
              ...account,
              chatId: role !== "owner" && account.chatId === chatId ? null : account.chatId,
              operator: account.operator && !runsAccount(role),
            });
            return { revokedKeys };
          },
        ),
      );
    },

    choose: ({ signIn: id, chatId, account: name, requestId, at }) =>
      write<ChoiceOutcome>("choose", chatId, function* (tx) {
        const account = yield* tx.account(name);
        const member = account && (yield* tx.get(memberRecords, account.id, chatId));
        const signIn = yield* tx.get(siteSignIns, id);
        if (account === undefined || member === undefined || signIn?.chatId !== chatId) return "unknown";
        if (hasLapsed(member, at)) return "unknown";
        if (!hasAccepted(member)) {
          if (runsAccount(member.role) && runsTooMany(yield* membershipsOf(tx, chatId), name)) {
            return "account_limit";
          }
          const actor = { type: "account", id: name, member: chatId } as const;
          const origin = { actor, requestId, at, pid: null, account: account.id };
          yield* tx.journal(origin, "member.accepted", { chatId, role: member.role });
        }
        yield* tx.put(memberRecords, { ...member, chosenAt: at });
        yield* tx.put(siteSignIns, { ...signIn, account: name });
        return "chosen";
      }),
  };
});
