/** Routes of the page Team: the members of the account, and the forms that change them. */
import { allows, type MemberChange, Members, memberRoles } from "@accountlink/core/accounts";
import { type Conflict, Forbidden, type InvalidParameter } from "@accountlink/core/errors";
import { isChatId } from "@accountlink/core/ids";
import { originOf } from "@accountlink/core/keys";
import { Profiles } from "@accountlink/core/platforms";
import { HttpSettings } from "@accountlink/http/for_pages";
import { statusOf } from "@accountlink/http-api";
import { Effect } from "effect";
import { type NoticeName, noticeHtml } from "../look/notice.ts";
import { type Fields, type OwnerPages, type OwnerVisitor, seeOther } from "../owner_pages.ts";
import { paths, withQuery } from "../paths.ts";
import { makeUserSearch } from "./name_search.ts";
import { emptyNewMember, invitePage, type NewMember, type RefusedTeam, teamPage } from "./team_page.ts";

export const teamRoutes = Effect.fnUntraced(function* ({ page, form }: OwnerPages) {
  const members = yield* Members;
  const profiles = yield* Profiles;
  const findUser = yield* makeUserSearch;
  const { publicUrl } = yield* HttpSettings;

  const team = Effect.fnUntraced(function* (
    visitor: OwnerVisitor,
    done: string,
    typed: NewMember,
    refused: RefusedTeam | null,
  ) {
    const { account, chatId } = visitor.owner;
    const listed = yield* members.list(account.name);
    const named = yield* Effect.forEach(
      listed,
      (member) => Effect.map(profiles.chat(member.chatId, null), (profile) => ({ ...member, profile })),
      { concurrency: 8 },
    );
    const view = { members: named, me: chatId, signInUrl: `${publicUrl}${paths.overview}` };
    return teamPage(view, typed, { ...visitor, account }, noticeHtml(done), refused);
  });

  const change = ({ owner }: OwnerVisitor, wanted: MemberChange, done: NoticeName) =>
    Effect.as(
      members.change(owner.account.name, wanted, originOf(owner)),
      seeOther(withQuery(paths.team, { done })),
    );

  const refuse = (visitor: OwnerVisitor, typed: NewMember) => (error: Refusal) =>
    team(visitor, "", typed, refusalOf(error));

  /** Shows whom the form means. The form of the page that is shown has the field `chatId`, and invites this user. */
  const add = (visitor: OwnerVisitor, fields: Fields) => {
    const typed = { who: fields("who").trim(), role: fields("role") };
    const role = roleOf(typed.role);
    const shown = fields("chatId");
    const who = shown === "" ? typed.who : shown;
    return Effect.gen(function* () {
      const found = yield* findUser(isChatId(who) ? { chatId: who } : { username: who }, visitor);
      if (shown === "") return invitePage({ ...found, role }, visitor.owner);
      return yield* change(visitor, { type: "add", chatId: found.chatId, role }, "memberInvited");
    }).pipe(
      Effect.catchTags({
        InvalidParameter: refuse(visitor, typed),
        Conflict: refuse(visitor, typed),
      }),
    );
  };

  const setRole = (visitor: OwnerVisitor, fields: Fields) => {
    const chatId = fields("chatId");
    if (!isChatId(chatId)) return Effect.succeed(seeOther(paths.team));
    const role = roleOf(fields(`role-${chatId}`));
    return Effect.catchTag(
      change(visitor, { type: "set_role", chatId, role }, "roleChanged"),
      "Conflict",
      refuse(visitor, emptyNewMember),
    );
  };

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
    return yield* Effect.catchTag(removed, "Conflict", refuse(visitor, emptyNewMember));
  });

  return [
    page(paths.team, (visitor, query) => team(visitor, query("done"), emptyNewMember, null)),
    form(paths.teamAdd, add),
    form(paths.teamRole, setRole),
    form(paths.teamRemove, remove),
  ];
});

/** Parses the value of the form field `role`. An unknown value becomes the lowest role. */
const roleOf = (text: string) => memberRoles.find((role) => role === text) ?? "moderator";

type Refusal = Conflict | InvalidParameter;

const refusalOf = (error: Refusal): RefusedTeam => {
  const status = statusOf(error);
  return error._tag === "Conflict"
    ? { status, problems: [], general: conflictTexts[error.details.reason] ?? `${error.message}.` }
    : {
        status,
        problems: error.parameters.map(({ reason }) => ({ name: "who", reason })),
        general: null,
      };
};

const conflictTexts: Readonly<Record<string, string>> = {
  member_exists: "This user is in the team or invited already.",
  member_limit: "The team is full: it has 25 people, with those who are invited.",
  last_owner: "A team needs an owner who has accepted. Make somebody else an owner first.",
};
