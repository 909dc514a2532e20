import type { ChatId } from "@accountlink/core";
import {
  decideMember,
  hasAccepted,
  hasLapsed,
  MemberStore,
  type Membership,
  memberOrder,
  membershipOrder,
  newMember,
  runsAccount,
  runsTooMany,
} from "@accountlink/core/accounts";
import { assertStorable } from "@accountlink/core/storable_text";
import { getOrInsert } from "../get_or_insert.ts";
import { closeAccount } from "./account_end.ts";
import { layerOf, type Memory } from "./state.ts";

/** Finds the accounts of a chat user by a scan. */
export const layer = layerOf(MemberStore, (memory) => {
  const list = (account: string) =>
    Array.from(memory.members.get(account) ?? [], ([chatId, member]) => ({ chatId, ...member })).toSorted(
      memberOrder,
    );

  return {
    list,
    findByChatId: (chatId) => membershipsOf(memory, chatId),

    change: ({ account: name, change, ...write }) => {
      const account = memory.accounts.get(name);
      if (account === undefined) return "unknown";
      const { chatId } = change;
      const members = getOrInsert(memory.members, name, () => new Map());
      for (const [id, member] of members) if (hasLapsed(member, write.at)) members.delete(id);
      const isFull = write.actor.type !== "operator" && runsTooMany(membershipsOf(memory, chatId), name);
      const decision = decideMember(list(name), change, isFull);
      if (typeof decision === "string") return decision;
      const { role, closes, action } = decision;
      const revokedKeys = closes ? closeAccount(memory, name, write.at) : [];
      const details = { ...decision.details, ...(closes && { revokedKeys: revokedKeys.length }) };
      memory.recordOfAccount({ ...write, action, details }, name);
      if (role === null) {
        members.delete(chatId);
        for (const signIn of memory.signIns.values()) {
          if (signIn.chatId === chatId && signIn.account === name) memory.signIns.delete(signIn.id);
        }
      } else members.set(chatId, { ...newMember(write), ...members.get(chatId), role });
      memory.accounts.set(name, {
        ...account,
        chatId: role !== "owner" && account.chatId === chatId ? null : account.chatId,
        operator: account.operator && !runsAccount(role),
      });
      return { revokedKeys };
    },

    choose: ({ signIn: id, chatId, account, requestId, at }) => {
      assertStorable([account]);
      const members = memory.members.get(account);
      const [member, signIn] = [members?.get(chatId), memory.signIns.get(id)];
      if (members === undefined || member === undefined || signIn?.chatId !== chatId) return "unknown";
      if (hasLapsed(member, at)) return "unknown";
      if (!hasAccepted(member)) {
        if (runsAccount(member.role) && runsTooMany(membershipsOf(memory, chatId), account)) {
          return "account_limit";
        }
        const actor = { type: "account", id: account, member: chatId } as const;
        const details = { chatId, role: member.role };
        memory.recordOfAccount({ actor, requestId, at, action: "member.accepted", details }, account);
      }
      members.set(chatId, { ...member, chosenAt: at });
      memory.signIns.set(id, { ...signIn, account });
      return "chosen";
    },
  };
});

export const membershipsOf = (memory: Memory, chatId: ChatId): ReadonlyArray<Membership> =>
  [...memory.accounts.values()]
    .flatMap((account) => {
      const member = memory.members.get(account.name)?.get(chatId);
      return member === undefined ? [] : [{ account, ...member }];
    })
    .toSorted(membershipOrder);
