/** How many of the first users in a file are members of the community, so that nobody imports the file of another one. */
import type { ChatId, GuildId } from "@accountlink/core";
import { type ListProgress, MemberLists } from "@accountlink/core/owners";
import { Effect } from "effect";
import { type Html, html } from "../../html.ts";
import type { Community } from "../communities/community.ts";
import { makeMemberListWait, type NotListed } from "../links/member_list_wait.ts";
import { listText } from "../look/names.ts";
import { progressText } from "../look/progress.ts";
import { say, tags } from "../look/say.ts";
import { numberHtml } from "../look/time.ts";

export type FileMembers = { readonly found: number; readonly count: number } | NotListed;

export const makeFileMembers = Effect.gen(function* () {
  const lists = yield* MemberLists;
  const waitForMembers = yield* makeMemberListWait;

  /** Returns null without a guild, as for a list of several communities, and if the chat platform does not answer. */
  return Effect.fnUntraced(function* (guildId: GuildId | null, chatIds: ReadonlyArray<ChatId>) {
    if (guildId === null || chatIds.length === 0) return null;
    const counted = Effect.map(lists.find(guildId), ({ members }) => {
      const all = new Set(members.map(({ chatId }) => chatId));
      return { found: chatIds.filter((chatId) => all.has(chatId)).length, count: chatIds.length };
    });
    return yield* waitForMembers(guildId, counted, "1 second").pipe(
      Effect.catchTag(["PlatformUnavailable", "MissingParameter"], () => Effect.succeed(null)),
    );
  });
});

/** Says that the list of a community's members is not yet read to its end. */
export const readingHtml = (community: string | Html, reading: ListProgress): Html =>
  html`<p class="hint" data-live="2">${say("overview.members.reading", { community, progress: progressText(reading) })}</p>`;

export const fileMembersHtml = (community: Community, members: FileMembers | null): Html | null => {
  // Without the bot in the community, nobody knows its members.
  if (members === null || "reason" in members) return null;
  const list = listText(community);
  if ("reading" in members) return readingHtml(list, members.reading);
  const { found, count } = members;
  return html`<p class="figure">${say("import.members", { community: list, count, found: numberHtml(found), b: tags.b })}</p>`;
};
