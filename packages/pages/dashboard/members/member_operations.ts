import {
  hasAccepted,
  type Member,
  type MemberChange,
  type MemberRole,
  Members,
} from "@accountlink/core/accounts";
import { BadRequest, InvalidParameter, MissingParameter } from "@accountlink/core/errors";
import { type KeyOwner, originOf } from "@accountlink/core/keys";
import { forEachLimited } from "@accountlink/core/limited_loops";
import { OwnedScopes } from "@accountlink/core/owners";
import { Profiles } from "@accountlink/core/platforms";
import { formatTimestamp } from "@accountlink/core/timestamp";
import { DashboardMembers } from "@accountlink/http-api";
import { Effect } from "effect";
import { makeOperation } from "../api_pipeline.ts";
import { makeUserSearch } from "./name_search.ts";

/** What owners do with the members of an account, by JSON and by the forms of the page. Every member can leave. */
export const makeMemberOperations = Effect.gen(function* () {
  const operation = yield* makeOperation;
  const members = yield* Members;
  const profiles = yield* Profiles;
  const findUser = yield* makeUserSearch;
  const owned = yield* OwnedScopes;

  const toJson = (member: Member) =>
    Effect.map(profiles.chat(member.chatId, null), (profile) => ({
      chatId: member.chatId,
      role: member.role,
      scopes: member.scopes,
      since: formatTimestamp(member.since),
      accepted: hasAccepted(member),
      username: profile?.username ?? null,
      displayName: profile?.displayName ?? null,
    }));

  /**
   * Returns the communities of which somebody becomes a member: null for all. Fails with `InvalidParameter` for scopes of
   * another account, and for an owner of some communities alone.
   */
  const scopesOf = Effect.fnUntraced(function* (
    owner: KeyOwner,
    role: MemberRole | undefined,
    wanted: ReadonlyArray<string> | null,
  ) {
    if (wanted === null) return null;
    if (role === "owner") return yield* InvalidParameter.one("scopes", { is: "all_communities" });
    const known = (yield* owned.list(owner)).map(({ scope }) => scope.pid);
    const found = known.filter((pid) => wanted.includes(pid));
    if (found.length < new Set(wanted).size)
      return yield* InvalidParameter.one("scopes", { is: "own_communities" });
    return found;
  });

  const findMember = ({ account }: KeyOwner, chatId: string) =>
    Effect.map(members.list(account.name), (all) => all.find((member) => member.chatId === chatId));

  const changed = Effect.fnUntraced(function* (owner: KeyOwner, change: MemberChange) {
    yield* members.change(owner.account.name, change, originOf(owner));
    const member = yield* findMember(owner, change.chatId);
    if (member === undefined) return yield* new BadRequest({ problem: "not_found" });
    return { member: yield* toJson(member) };
  });

  return {
    list: operation(DashboardMembers.getMembers, function* ({ owner }) {
      const listed = yield* members.seenBy(owner);
      return { members: yield* forEachLimited(listed, toJson, { concurrency: 8 }) };
    }),

    add: operation(DashboardMembers.addMember, function* (input) {
      const { chatId, username, role, scopes: wanted } = input.values;
      const scopes = yield* scopesOf(input.owner, role, wanted ?? null);
      const found = yield* findUser(chatId === null ? { username: username ?? "" } : { chatId }, input);
      return yield* changed(input.owner, { type: "add", chatId: found.chatId, role, scopes });
    }),

    change: operation(
      DashboardMembers.patchMember,
      function* ({ owner, values: { chatId, role, scopes: wanted } }) {
        if (role === undefined && wanted === undefined)
          return yield* new MissingParameter({ parameters: ["role"] });
        if (wanted === undefined) return yield* changed(owner, { type: "set_role", chatId, role });
        const roleThen = role ?? (yield* findMember(owner, chatId))?.role;
        const scopes = yield* scopesOf(owner, roleThen, wanted);
        return yield* changed(owner, { type: "set_role", chatId, role, scopes });
      },
    ),

    remove: operation(
      DashboardMembers.removeMember,
      ({ owner, values: { chatId } }) =>
        members.change(owner.account.name, { type: "remove", chatId }, originOf(owner)),
      () => ({ removed: true as const }),
    ),
  };
});
