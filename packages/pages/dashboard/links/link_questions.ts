/** Confirmation questions before a link is created or removed; they name both accounts. */
import type { ChatId, GameId, Link, Pid } from "@accountlink/core";
import { longestReason } from "@accountlink/core/audit";
import type { Conflict, Forbidden, InvalidParameter, PlatformUnavailable } from "@accountlink/core/errors";
import { isChatId } from "@accountlink/core/ids";
import type { Contest, NamedLink } from "@accountlink/core/owners";
import { type ChatProfile, type GameProfile, Profiles } from "@accountlink/core/platforms";
import type { Parameters } from "@accountlink/http-api";
import { Effect, Result } from "effect";
import { type Html, hiddenFields, html, type Problem, to } from "../../html.ts";
import type { Operation } from "../api_pipeline.ts";
import type { Community } from "../communities/community.ts";
import type { Fields } from "../form_fields.ts";
import { buttonsOr, panelTo, textField } from "../look/field.ts";
import { listText } from "../look/names.ts";
import { statusHtml } from "../look/notice.ts";
import { type Refused, reasonOf } from "../look/refused.ts";
import { listOf, say, tags } from "../look/say.ts";
import { type OwnerPages, type OwnerVisitor, seeOther } from "../owner_pages.ts";
import type { Page } from "../page.ts";
import { paths, userPath, withQuery } from "../paths.ts";
import { accountText } from "./links_page.ts";
import { makeLostWithLink, makeOneUserNote } from "./lost_with_link.ts";
import { makeListsOfUser, makeUserLists, type UserList } from "./user_page.ts";

const reason = {
  name: "reason",
  label: say("link.reason"),
  hint: say("link.reason.hint", { most: String(longestReason) }),
  value: "",
  maxLength: longestReason,
};

export const reasonField = textField(reason);

interface LinkQuestion {
  readonly community: Community;
  readonly chatId: ChatId;
  readonly chat: ChatProfile | null;
  readonly gameId: GameId;
  readonly game: GameProfile | null;
}

/** Marks a link that a question shows, for its hidden fields `seen`. */
export const seenLink = (pid: Pid, { chatId, gameId }: Link): string => `${pid} ${chatId} ${gameId}`;

/** Whether the form of a question showed the links of these marks. Links that were removed since do not matter. */
export const areSeen = (fields: Fields, marks: ReadonlyArray<string>): boolean => {
  const seen = fields.all("seen");
  return seen.length === 0 || marks.every((mark) => seen.includes(mark));
};

/** The refusal of a question that showed another link than there is now. */
export const linksChanged = { status: 409, problems: [], general: say("link.changed") } satisfies Refused;

/**
 * Asks before users of a list are unlinked.
 *
 * @param others other lists in which a single user is linked
 * @param lost what the bot takes back, and what cannot be put back
 */
export const unlinkQuestion = (
  community: Community,
  links: ReadonlyArray<NamedLink>,
  others: ReadonlyArray<UserList>,
  lost: Html,
  refused: Refused | null,
): Page => {
  const { pid } = community.scope;
  const chatIds = links.map(({ link }) => link.chatId);
  const [one] = links.length === 1 ? links : [];
  const chatId = one?.link.chatId;
  const several = { count: chatIds.length };
  const [title, button, back] =
    chatId === undefined
      ? [
          say("unlink.several", several),
          say("unlink.button_several", several),
          withQuery(paths.links, { pid }),
        ]
      : [say("unlink.one"), say("unlink.button"), userPath(pid, chatId)];
  return {
    title,
    section: "links",
    refused,
    content: html`
<p>${say("unlink.in", { list: listText(community) })}</p>
<ul>${links.map(
      ({ link, chat, game }) =>
        html`<li>${say("unlink.pair", { b: tags.b, chat: accountText(link.chatId, chat), game: accountText(link.gameId, game) })}</li>`,
    )}</ul>
<p>${one === undefined ? say("unlink.effect") : say("unlink.effect_one", { member: accountText(one.link.chatId, one.chat) })}</p>
${lost}
${
  chatId !== undefined &&
  others.length > 0 &&
  html`<p>${say("unlink.stays", { lists: listOf(others.map((other) => listText(other.community))) })}
      <a class="bad" href="${to(withQuery(paths.unlinkAll, { chatId }))}">${say("unlink.all")}</a></p>`
}
${panelTo(paths.unlink, { pid })`
${links.map(({ link }) => hiddenFields({ chat: link.chatId, seen: seenLink(pid, link) }))}
${reasonField}
${buttonsOr(html`<button class="button bad">${button}</button>`, back)}`}`,
  };
};

/**
 * @param replaced the game account that the chat user is linked to so far, or null
 * @param contest why a reason is needed, or null
 * @param of the page that shows a refusal: `user` for the page of the user
 */
export const linkQuestion = (
  question: LinkQuestion,
  replaced: Pick<LinkQuestion, "gameId" | "game"> | null,
  contest: Contest | null,
  of: string,
  refused: Refused | null,
): Page => {
  const { community, chatId, chat, gameId, game } = question;
  const { pid } = community.scope;
  return {
    title: say("link.ask"),
    section: "links",
    refused,
    labels: { reason: say("link.reason") },
    content: html`
<p>${say("link.question", { b: tags.b, chat: accountText(chatId, chat), game: accountText(gameId, game), list: listText(community) })}</p>
${replaced !== null && html`<p>${say("link.replaces", { b: tags.b, game: accountText(replaced.gameId, replaced.game) })}</p>`}
<p>${say("link.unproven")}</p>
${
  contest !== null &&
  html`<p class="problem warn"><strong>${say(`link.contest.${contest}`)}</strong> ${say("link.told")}</p>`
}
${panelTo(paths.link, {
  pid,
  chat: chatId,
  game: gameId,
  replaced: replaced?.gameId ?? "",
  confirm: "1",
  of,
})`
${
  contest === null
    ? reasonField
    : textField({ ...reason, hint: say("link.most", { most: String(longestReason) }), required: true })
}
${buttonsOr(html`<button class="button">${say("links.link")}</button>`, userPath(pid, chatId))}`}`,
  };
};

export const unlinkAllRoutes = Effect.fnUntraced(function* (
  { page, form }: OwnerPages,
  { unlink: unlinkOne }: { readonly unlink: Pick<Operation<Parameters, unknown>, "submit"> },
) {
  const profiles = yield* Profiles;
  const listsOf = yield* makeListsOfUser;
  const namedLists = yield* makeUserLists;
  const lostIn = yield* makeLostWithLink;
  const oneUserNote = yield* makeOneUserNote;

  const ask = Effect.fnUntraced(function* (visitor: OwnerVisitor, chatId: string, failed: Html | null) {
    if (!isChatId(chatId)) return seeOther(paths.links);
    const { lists, failed: unknown } = yield* namedLists(visitor, chatId);
    if (unknown !== null) return yield* unknown;
    const chat = yield* profiles.chat(chatId, null);
    if (lists.length === 0) return seeOther(paths.links, { q: chatId });
    const lost = yield* lostIn(
      lists.map(({ community }) => community.scope.pid),
      [{ chatId, name: accountText(chatId, chat) }],
    );
    const notes = yield* Effect.forEach(lists, ({ community, link }) => oneUserNote(community, [link]));
    const note = notes.find((each) => each !== null) ?? null;
    return unlinkAllQuestion(chatId, chat, lists, html`${lost}${note}`, failed);
  });

  const unlink = Effect.fnUntraced(function* (visitor: OwnerVisitor, fields: Fields) {
    const chatId = fields("chatId");
    if (!isChatId(chatId)) return seeOther(paths.links);
    const { lists, failed: unknown } = yield* listsOf(visitor, chatId);
    if (unknown !== null) return yield* unknown;
    const pid = lists[0]?.community.scope.pid ?? null;
    const marks = lists.map(({ community, link }) => seenLink(community.scope.pid, link));
    if (!areSeen(fields, marks)) return yield* ask(visitor, chatId, linksChanged.general);
    const results = yield* Effect.forEach(lists, ({ community }) =>
      unlinkOne.submit(visitor, fields, { pid: community.scope.pid }).pipe(
        // Ignore a link that another request has removed meanwhile.
        Effect.catchTag("LinkNotFound", () => Effect.void),
        Effect.result,
      ),
    );
    const failure = results.find(Result.isFailure)?.failure;
    return failure === undefined
      ? seeOther(paths.linkUser, { pid, chatId, done: "unlinkedAll" })
      : yield* ask(visitor, chatId, say("field.problem", { reason: reasonOf(failure) }));
  });

  return [
    page(paths.unlinkAll, (visitor, query) => ask(visitor, query("chatId"), null)),
    form(paths.unlinkAll, unlink),
  ];
});

/** @param failed why the last attempt to unlink the user failed; null before the first attempt */
const unlinkAllQuestion = (
  chatId: ChatId,
  chat: ChatProfile | null,
  lists: ReadonlyArray<UserList>,
  lost: Html,
  failed: Html | null,
): Page => ({
  status: failed === null ? 200 : 409,
  title: say(failed === null ? "unlink.all.ask" : "unlink.all.failed"),
  section: "links",
  notice: failed === null ? null : statusHtml(failed, "bad"),
  content: html`
<p>${say("unlink.from", { b: tags.b, chat: accountText(chatId, chat) })}</p>
<ul>${lists.map(
    ({ community, link: { link, game } }) =>
      html`<li>${say("unlink.from.list", { b: tags.b, game: accountText(link.gameId, game), list: listText(community) })}</li>`,
  )}</ul>
<p>${say("unlink.all.effect")}</p>
${lost}
${panelTo(paths.unlinkAll, { chatId })`
${lists.map(({ community, link: { link } }) => hiddenFields({ seen: seenLink(community.scope.pid, link) }))}
${reasonField}
${buttonsOr(html`<button class="button bad">${say("unlink.all")}</button>`, userPath(lists[0]?.community.scope.pid ?? null, chatId))}`}`,
});

/** The fields of the forms by the names of the API. */
const fieldsOf: Readonly<Record<string, string>> = { gameId: "game", reason: "reason" };

export const problemsOf = (
  error: Conflict | Forbidden | InvalidParameter | PlatformUnavailable,
): ReadonlyArray<Problem> =>
  error._tag === "InvalidParameter"
    ? error.parameters.map((problem) => ({ ...problem, name: fieldsOf[problem.name] ?? "chat" }))
    : [{ name: "chat", reason: reasonOf(error) }];
