import {
  type ChoiceOutcome,
  decideMember,
  hasAccepted,
  hasLapsed,
  type MemberChanged,
  type MemberRefusal,
  MemberStore,
  newMember,
  runsAccount,
  runsTooMany,
} from "@accountlink/core/accounts";
import { logged } from "@accountlink/core/journal";
import { siteSignIns } from "@accountlink/core/sign_ins";
import { assertStorable } from "@accountlink/core/storable_text";
import { kvTable } from "../records.ts";
import { changeFirst } from "../steps.ts";
import { changeInSteps, closeSome, isAtEnd, type Unfinished } from "./account_end.ts";
import { accountPlace, record } from "./journal.ts";
import { memberOf, members, membershipsOf, membersOf } from "./members.ts";
import { accountNamed, accountQueue, accounts } from "./scopes.ts";
import { storeLayer } from "./store_layer.ts";

const signIns = kvTable(siteSignIns);

const nothingClosed = { revoked: [], isMore: false };

export const layer = storeLayer(MemberStore, (db) => ({
  list: (name) =>
    db.read(function* (tx) {
      const account = yield* accountNamed(tx, name);
      return account === undefined ? [] : (yield* membersOf(tx, account.id)).map(memberOf);
    }),

  findByChatId: (chatId) => db.read((tx) => membershipsOf(tx, chatId)),

  change: ({ account: name, change, ...write }) =>
    changeInSteps((revokedBefore) =>
      db.write<MemberChanged | MemberRefusal | Unfinished>(accountQueue(name), function* (tx) {
        const account = yield* accountNamed(tx, name);
        if (account === undefined) return "unknown";
        const { chatId } = change;
        const all = yield* membersOf(tx, account.id);
        const lapsed = all.filter((member) => hasLapsed(member, write.at));
        if (yield* changeFirst(tx, lapsed, (member) => tx.remove(members, account.id, member.chatId))) {
          return { unfinished: [] };
        }
        const current = all.filter((member) => !hasLapsed(member, write.at)).map(memberOf);
        const isFull = write.actor.type !== "operator" && runsTooMany(yield* membershipsOf(tx, chatId), name);
        const decision = decideMember(current, change, isFull);
        if (typeof decision === "string") return decision;
        const { role, scopes, closes, action } = decision;
        const closed = closes ? yield* closeSome(tx, account, write.at) : nothingClosed;
        if (closed.isMore) return { unfinished: closed.revoked };
        const theirs =
          role === null
            ? (yield* tx.list(signIns.byAccount, [name])).filter((signIn) => signIn.chatId === chatId)
            : [];
        if (yield* changeFirst(tx, theirs, ({ id }) => tx.remove(signIns, id), isAtEnd)) {
          return { unfinished: closed.revoked };
        }
        const revokedKeys = [...revokedBefore, ...closed.revoked];
        const details = { ...decision.details, ...(closes && { revokedKeys: revokedKeys.length }) };
        yield* record(tx, accountPlace(account.id), logged(write, action, details));
        if (role === null) {
          yield* tx.remove(members, account.id, chatId);
        } else {
          const before = current.find((member) => member.chatId === chatId);
          yield* tx.put(members, {
            account: account.id,
            chatId,
            ...newMember(write),
            ...before,
            role,
            scopes,
          });
        }
        yield* tx.put(accounts, {
          ...account,
          chatId: role !== "owner" && account.chatId === chatId ? null : account.chatId,
          operator: account.operator && !runsAccount(role),
        });
        return { revokedKeys };
      }),
    ),

  choose: ({ signIn: id, chatId, account: name, requestId, at }) =>
    db.write<ChoiceOutcome>(accountQueue(name), function* (tx) {
      assertStorable([name]);
      const account = yield* accountNamed(tx, name);
      const member = account && (yield* tx.get(members, account.id, chatId));
      const signIn = yield* tx.get(signIns, id);
      if (account === undefined || member === undefined || signIn?.chatId !== chatId) {
        return "unknown";
      }
      if (hasLapsed(member, at)) return "unknown";
      if (!hasAccepted(member)) {
        if (runsAccount(member.role) && runsTooMany(yield* membershipsOf(tx, chatId), name)) {
          return "account_limit";
        }
        const actor = { type: "account", id: name, member: chatId } as const;
        const details = { chatId, role: member.role };
        const entry = logged({ actor, requestId, at }, "member.accepted", details);
        yield* record(tx, accountPlace(account.id), entry);
      }
      yield* tx.put(members, { ...member, chosenAt: at });
      yield* tx.put(signIns, { ...signIn, account: name });
      return "chosen";
    }),
}));
