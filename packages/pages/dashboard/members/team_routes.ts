/** Routes of the page Team: the members of the account, and the forms that change them. */

import {
  hasAccepted,
  type Member,
  type MemberChange,
  type MemberRole,
  Members,
  memberRoles,
} from "@accountlink/core/accounts";
import { BadRequest, InvalidParameter, MissingParameter } from "@accountlink/core/errors";
import { isChatId } from "@accountlink/core/ids";
import { type KeyOwner, originOf } from "@accountlink/core/keys";
import { forEachLimited } from "@accountlink/core/limited_loops";
import { visibleName } from "@accountlink/core/name_text";
import { OwnedScopes } from "@accountlink/core/owners";
import { Profiles } from "@accountlink/core/platforms";
import { formatTimestamp } from "@accountlink/core/timestamp";
import { type HttpResponse, HttpSettings } from "@accountlink/http/for_pages";
import { DashboardMembers } from "@accountlink/http-api";
import { Effect } from "effect";
import type { SiteError } from "../../sign_ins/refusals.ts";
import { jsonRoutes, makeOperation } from "../api_pipeline.ts";
import { makeCommunities } from "../communities/community.ts";
import type { Fields } from "../form_fields.ts";
import { isUntouched } from "../form_values.ts";
import { orShowAgain, type Refused } from "../look/refused.ts";
import { say } from "../look/say.ts";
import { makeAccountTitle, type OwnerPages, type OwnerVisitor, seeOther } from "../owner_pages.ts";
import type { Page } from "../page.ts";
import { paths } from "../paths.ts";
import { makeUserSearch } from "./name_search.ts";
import {
  type ChangedMember,
  emptyNewMember,
  invitePage,
  type NewMember,
  newOwnerPage,
  ownRolePage,
  teamPage,
} from "./team_page.ts";

export const teamRoutes = Effect.fnUntraced(function* ({ page, form }: OwnerPages) {
  const members = yield* Members;
  const profiles = yield* Profiles;
  const titleOf = yield* makeAccountTitle;
  const findUser = yield* makeUserSearch;
  const operations = yield* makeMemberOperations;
  const communities = yield* makeCommunities;
  const { publicUrl } = yield* HttpSettings;

  const team = Effect.fnUntraced(function* (
    visitor: OwnerVisitor,
    typed: NewMember,
    refused: Refused | null,
    changed: ChangedMember | null = null,
  ) {
    const { account, chatId } = visitor.owner;
    const listed = yield* members.seenBy(visitor.owner);
    const named = yield* forEachLimited(listed, 8, (member) =>
      Effect.map(profiles.chat(member.chatId, null), (profile) => ({ ...member, profile })),
    );
    const view = {
      members: named,
      communities: yield* communities.list(visitor),
      me: chatId,
      changed,
      signInUrl: `${publicUrl}${paths.overview}`,
    };
    return teamPage(view, typed, { ...visitor, title: yield* titleOf(account) }, refused);
  });

  /**
   * Shows the page with the reason if a form is refused. Problems that are not of communities concern the field `who`, or
   * the role in the form of a member.
   */
  const orTeam = (
    visitor: OwnerVisitor,
    typed: NewMember,
    answer: Effect.Effect<Page | HttpResponse, SiteError>,
    changed: ChangedMember | null = null,
  ) =>
    orShowAgain(answer, ({ problems, ...refused }) => {
      const suffix = changed === null ? "" : `-${changed.chatId}`;
      const other = changed === null ? "who" : `role${suffix}`;
      const shown = problems.map((problem) => ({
        ...problem,
        name: problem.name === "scopes" ? `scopes${suffix}` : other,
      }));
      return team(visitor, typed, { ...refused, problems: shown }, changed);
    });

  /** Shows the user that the form means. The form on that page has the field `chatId`, and invites the user. */
  const add = (visitor: OwnerVisitor, fields: Fields) => {
    const who = fields("who").trim();
    const { role, scopes } = choiceOf(fields("role"), fields("of"), pidsIn(fields, "scopes"));
    const asked = Effect.gen(function* () {
      if (scopes?.length === 0) return yield* noScopes;
      const found = yield* findUser(isChatId(who) ? { chatId: who } : { username: who }, visitor);
      return invitePage(
        { ...found, role, scopes: scopes ?? null, communities: yield* communities.list(visitor) },
        yield* titleOf(visitor.owner.account),
      );
    });
    const added = Effect.as(
      operations.add.submit(visitor, fields, { scopes }),
      seeOther(paths.team, { done: "memberInvited" }),
    );
    const typed = { who, role, scopes: scopes ?? null };
    return orTeam(visitor, typed, fields("chatId") === "" ? asked : added);
  };

  /** Returns the question before a member becomes an owner, or ceases to be one; null if no question is needed. */
  const roleQuestion = Effect.fnUntraced(function* (
    visitor: OwnerVisitor,
    { chatId, role, scopes }: ChangedMember,
  ) {
    const listed = yield* members.list(visitor.owner.account.name);
    const owners = listed.filter((each) => each.role === "owner" && hasAccepted(each));
    const member = listed.find((each) => each.chatId === chatId);
    // The last owner can't step down, and reads that at once.
    if (chatId === visitor.owner.chatId && role !== "owner" && owners.length > 1)
      return ownRolePage(chatId, role, scopes);
    if (role !== "owner" || member === undefined || member.role === "owner") return null;
    const profile = yield* profiles.chat(chatId, null);
    return newOwnerPage(chatId, visibleName(profile) ?? say("alts.user", { id: chatId }));
  });

  const setRole = Effect.fnUntraced(function* (visitor: OwnerVisitor, fields: Fields) {
    const chatId = fields("chatId");
    if (!isChatId(chatId)) return seeOther(paths.team);
    const choice = choiceOf(
      fields(`role-${chatId}`),
      fields(`of-${chatId}`),
      pidsIn(fields, `scopes-${chatId}`),
    );
    const changed = { chatId, ...choice, scopes: choice.scopes ?? null, shown: fields("shown") };
    const change = changeIn(fields, chatId, choice);
    if (change === null) return seeOther(paths.team);
    const question = fields("confirm") === "yes" ? null : yield* roleQuestion(visitor, changed);
    if (question !== null) return question;
    const submitted = Effect.as(
      operations.change.submit(visitor, fields, change),
      seeOther(paths.team, { done: "roleChanged" }),
    );
    return yield* orTeam(visitor, emptyNewMember, submitted, changed);
  });

  const remove = (visitor: OwnerVisitor, fields: Fields) => {
    // A member who leaves is signed out, so redirect to a page that needs no sign-in. Browsers block a redirect from
    // a form to the sign-in at the platform.
    const seen =
      fields("chatId") === visitor.owner.chatId
        ? seeOther(paths.signedOut)
        : seeOther(paths.team, { done: "memberRemoved" });
    const removed = operations.remove.submit(visitor, fields);
    // A button that is pressed twice finds the member gone.
    const gone = Effect.catchTag(removed, "BadRequest", () => Effect.void);
    return orTeam(visitor, emptyNewMember, Effect.as(gone, seen));
  };

  return [
    ...jsonRoutes(operations),
    page(paths.team, (visitor) => team(visitor, emptyNewMember, null)),
    form(paths.teamAdd, add),
    form(paths.teamRole, setRole),
    form(paths.teamRemove, remove),
  ];
});

const { expected, reason } = DashboardMembers.addMember.parameters.scopes;
const noScopes = InvalidParameter.one("scopes", expected ?? reason);

/** The ticked communities of a field, or the hidden ones of a page that asks again. */
const pidsIn = (fields: Fields, name: string): ReadonlyArray<string> =>
  fields.all(name).flatMap((value) => value.split(",").filter((pid) => pid !== ""));

/**
 * The role and communities that a form gives: null for all, undefined if the form does not say. An unknown role becomes the
 * lowest one, and an owner is of all.
 */
const choiceOf = (text: string, of: string, pids: ReadonlyArray<string>) => {
  const role = memberRoles.find((one) => one === text) ?? "moderator";
  if (role === "owner" || of === "all") return { role, scopes: null };
  return { role, scopes: of === "some" || pids.length > 0 ? pids : undefined };
};

/** Leaves out of a member's form what its reader did not change; null if that is all of it. An owner is of all. */
const changeIn = (fields: Fields, chatId: string, { role, scopes }: ReturnType<typeof choiceOf>) => {
  const isShown = (name: string) => isUntouched(fields, `${name}-${chatId}`);
  const isRoleKept = isShown("role");
  const areScopesKept = isShown("of") && isShown("scopes") && (isRoleKept || role !== "owner");
  if (isRoleKept && areScopesKept) return null;
  return { role: isRoleKept ? undefined : role, scopes: areScopesKept ? undefined : scopes };
};

/** What owners do with the members of an account, by JSON and by the forms of the page. Every member can leave. */
const makeMemberOperations = Effect.gen(function* () {
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
      return { members: yield* forEachLimited(listed, 8, toJson) };
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
