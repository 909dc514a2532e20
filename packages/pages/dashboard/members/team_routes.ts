/** Routes of the page Team: the members of the account, and the forms that change them. */

import {
  allows,
  hasAccepted,
  type MemberChange,
  type MemberRole,
  Members,
  memberRoles,
} from "@accountlink/core/accounts";
import { Forbidden } from "@accountlink/core/errors";
import { isChatId } from "@accountlink/core/ids";
import { originOf } from "@accountlink/core/keys";
import { forEachLimited } from "@accountlink/core/limited_loops";
import { visibleName } from "@accountlink/core/name_text";
import { Profiles } from "@accountlink/core/platforms";
import { type HttpResponse, HttpSettings } from "@accountlink/http/for_pages";
import { Effect } from "effect";
import type { SiteError } from "../../sign_ins/refusals.ts";
import { makeCommunities } from "../communities/community.ts";
import type { NoticeName } from "../look/notice.ts";
import { orShowAgain, type Refused } from "../look/refused.ts";
import {
  type Fields,
  makeAccountTitle,
  type OwnerPages,
  type OwnerVisitor,
  seeOther,
} from "../owner_pages.ts";
import type { Page } from "../page.ts";
import { paths } from "../paths.ts";
import { makeMemberScopes } from "./member_scopes.ts";
import { makeUserSearch } from "./name_search.ts";
import { newOwnerPage } from "./new_owner_page.ts";
import { emptyNewMember, invitePage, type NewMember, ownRolePage, teamPage } from "./team_page.ts";

export const teamRoutes = Effect.fnUntraced(function* ({ page, form }: OwnerPages) {
  const members = yield* Members;
  const profiles = yield* Profiles;
  const titleOf = yield* makeAccountTitle;
  const findUser = yield* makeUserSearch;
  const scopesOf = yield* makeMemberScopes;
  const communities = yield* makeCommunities;
  const { publicUrl } = yield* HttpSettings;

  const team = Effect.fnUntraced(function* (
    visitor: OwnerVisitor,
    typed: NewMember,
    refused: Refused | null,
  ) {
    const { account, chatId } = visitor.owner;
    const listed = yield* members.seenBy(visitor.owner);
    const named = yield* forEachLimited(
      listed,
      (member) => Effect.map(profiles.chat(member.chatId, null), (profile) => ({ ...member, profile })),
      { concurrency: 8 },
    );
    const view = {
      members: named,
      communities: yield* communities.list(visitor),
      me: chatId,
      signInUrl: `${publicUrl}${paths.overview}`,
    };
    return teamPage(view, typed, { ...visitor, title: yield* titleOf(account) }, refused);
  });

  /** No ticked community means all, and an owner is of all. */
  const chosenScopes = ({ owner }: OwnerVisitor, role: MemberRole, pids: ReadonlyArray<string>) =>
    scopesOf(owner, role, pids.length === 0 || role === "owner" ? null : pids);

  const change = ({ owner }: OwnerVisitor, wanted: MemberChange, done: NoticeName) =>
    Effect.as(members.change(owner.account.name, wanted, originOf(owner)), seeOther(paths.team, { done }));

  /** Shows the page with the reason if a form is refused. Problems that are not of communities concern the field `who`. */
  const orTeam = (
    visitor: OwnerVisitor,
    typed: NewMember,
    answer: Effect.Effect<Page | HttpResponse, SiteError>,
  ) =>
    orShowAgain(answer, ({ problems, ...refused }) =>
      team(visitor, typed, {
        ...refused,
        problems: problems.map(({ name, reason }) => ({ name: name === "scopes" ? name : "who", reason })),
      }),
    );

  /** Shows whom the form means. The form of the page that is shown has the field `chatId`, and invites this user. */
  const add = (visitor: OwnerVisitor, fields: Fields) => {
    const typed = { who: fields("who").trim(), role: fields("role"), scopes: pidsIn(fields, "scopes") };
    const role = roleOf(typed.role);
    const shown = fields("chatId");
    const who = shown === "" ? typed.who : shown;
    const added = Effect.gen(function* () {
      const scopes = yield* chosenScopes(visitor, role, typed.scopes);
      const found = yield* findUser(isChatId(who) ? { chatId: who } : { username: who }, visitor);
      if (shown === "")
        return invitePage(
          { ...found, role, scopes: scopes ?? [], communities: yield* communities.list(visitor) },
          yield* titleOf(visitor.owner.account),
        );
      return yield* change(visitor, { type: "add", chatId: found.chatId, role, scopes }, "memberInvited");
    });
    return orTeam(visitor, typed, added);
  };

  const setRole = Effect.fnUntraced(function* (visitor: OwnerVisitor, fields: Fields) {
    const chatId = fields("chatId");
    if (!isChatId(chatId)) return seeOther(paths.team);
    const role = roleOf(fields(`role-${chatId}`));
    const typed = pidsIn(fields, `scopes-${chatId}`);
    if (chatId === visitor.owner.chatId && role !== "owner" && fields("confirm") !== "yes") {
      const listed = yield* members.list(visitor.owner.account.name);
      const owners = listed.filter((member) => member.role === "owner" && hasAccepted(member));
      // The last owner can't step down, and reads that at once.
      if (owners.length > 1) return ownRolePage(chatId, role, typed);
    }
    if (role === "owner" && fields("confirm") !== "yes") {
      const profile = yield* profiles.chat(chatId, null);
      const listed = yield* members.list(visitor.owner.account.name);
      const member = listed.find((each) => each.chatId === chatId);
      if (member !== undefined && member.role !== "owner")
        return newOwnerPage(chatId, visibleName(profile) ?? `User ${chatId}`);
    }
    return yield* orTeam(
      visitor,
      emptyNewMember,
      Effect.flatMap(chosenScopes(visitor, role, typed), (scopes) =>
        change(visitor, { type: "set_role", chatId, role, scopes }, "roleChanged"),
      ),
    );
  });

  const remove = Effect.fnUntraced(function* (visitor: OwnerVisitor, fields: Fields) {
    const chatId = fields("chatId");
    if (!isChatId(chatId)) return seeOther(paths.team);
    const isMe = chatId === visitor.owner.chatId;
    if (!isMe && !allows(visitor.role, "owner")) return yield* new Forbidden({ reason: "role" });
    const removed = change(visitor, { type: "remove", chatId }, "memberRemoved").pipe(
      // A member who leaves is signed out, so redirect to a page that needs no sign-in. Browsers block a redirect from
      // a form to the sign-in at the platform.
      Effect.map((shown) => (isMe ? seeOther(paths.signedOut) : shown)),
    );
    return yield* orTeam(visitor, emptyNewMember, removed);
  });

  return [
    page(paths.team, (visitor) => team(visitor, emptyNewMember, null)),
    form(paths.teamAdd, add),
    form(paths.teamRole, setRole),
    form(paths.teamRemove, remove),
  ];
});

/** The ticked communities of a field, or the hidden ones of a page that asks again. */
const pidsIn = (fields: Fields, name: string): ReadonlyArray<string> =>
  fields.all(name).flatMap((value) => value.split(",").filter((pid) => pid !== ""));

/** Parses the value of the form field `role`. An unknown value becomes the lowest role. */
const roleOf = (text: string) => memberRoles.find((role) => role === text) ?? "moderator";
