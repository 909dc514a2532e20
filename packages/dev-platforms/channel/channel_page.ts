/**
 * The page of a guild's channels: a member to be, a command to type, the messages that this member sees, what the bot
 * posted in each channel, and users who join and leave.
 */
import type { ChatId } from "@accountlink/core";
import type { FixtureGuild } from "@accountlink/core/fixture";
import type { GuildChannel } from "@accountlink/core/platforms";
import { listings } from "@accountlink/pages/chat";
import { type Html, html } from "@accountlink/pages/html";
import type { PlatformState } from "../simulation.ts";
import type { AnswerMessage } from "../wire.ts";
import { buttonsOf, type ChannelMessage, mayUse } from "./channel.ts";

interface ChannelView {
  readonly guild: FixtureGuild;
  /** A member, or a user who may join. */
  readonly chatId: ChatId;
  readonly chatUsers: PlatformState["chatUsers"];
  readonly messages: ReadonlyArray<ChannelMessage>;
  readonly privateMessages: ReadonlyArray<AnswerMessage>;
  readonly postsIn: (guild: FixtureGuild, channelId: string) => ReadonlyArray<ChannelMessage>;
  /** Why the last command has no answer, or null. */
  readonly problem: string | null;
}

/** The page lists this many members, and as many users who may join, to choose from. */
const listed = 100;

export const channelHtml = (view: ChannelView): Html => {
  const { guild, chatId: as, chatUsers, messages, privateMessages, problem } = view;
  const nameOf = (chatId: string): string =>
    guild.member(chatId)?.nickname ??
    chatUsers.get(chatId)?.displayName ??
    chatUsers.get(chatId)?.username ??
    chatId;
  const names: Names = { user: nameOf, role: (id) => guild.roles.get(id)?.name ?? id };
  const me = guild.member(as);
  const members = guild.page(null).members.slice(0, listed);
  const strangers = [...chatUsers.keys()].filter((id) => guild.member(id) === undefined).slice(0, listed);
  const option = (chatId: string) =>
    html`<option value="${chatId}"${chatId === as ? html` selected` : null}>${nameOf(chatId)}</option>`;
  return html`<p>Nobody here is real. You are a member, and the service answers your commands.</p>
<form method="get" class="line">
<label for="as">You are</label>
<select id="as" name="as">
${members.map(({ chatId }) => option(chatId))}
</select>
<button>Change</button>
</form>
${
  strangers.length === 0
    ? null
    : html`<form method="post" class="line">
<label for="joining">Joins</label>
<select id="joining" name="as">${strangers.map(option)}</select>
<button name="membership" value="join">Join</button>
</form>`
}
${
  me === undefined
    ? html`<p>${nameOf(as)} is not a member.</p>`
    : html`<form method="post" class="line">
<input type="hidden" name="as" value="${as}">
<button name="membership" value="leave">Leave as ${nameOf(as)}</button>
</form>
<p>Your nickname: <span id="nickname">${me.nickname ?? "none"}</span></p>
<p>Your roles: <span id="roles">${me.roles.length === 0 ? "none" : me.roles.map(({ id }) => names.role(id)).join(", ")}</span></p>`
}
${
  privateMessages.length === 0
    ? null
    : html`<section id="private"><h2>Private messages of the bot</h2>
<ol class="messages">${privateMessages.map((message, index) =>
        messageItem({ id: `private-${index}`, chatId: null, asked: "", message, isPublic: false }, as, names),
      )}</ol></section>`
}
<h2>Commands</h2>
${
  messages.length === 0
    ? html`<p>Nobody has written yet.</p>`
    : html`<ol class="messages">${messages.map((message) => messageItem(message, as, names))}</ol>`
}
${problem === null ? null : html`<p role="alert">${problem}</p>`}
${
  me === undefined
    ? null
    : html`<form method="post" class="line">
<input type="hidden" name="as" value="${as}">
<label for="command">Command</label>
<input id="command" name="command" list="commands" autocomplete="off" autofocus required placeholder="/verify">
<datalist id="commands">${listings.filter((listing) => mayUse(listing, guild, me.chatId)).map(commandOption)}</datalist>
<button>Send</button>
</form>`
}
${[...guild.channels.values()].map((channel) => postsHtml(channel, view, names))}`;
};

const postsHtml = (
  { id, name, mayPost }: GuildChannel,
  { guild, chatId: as, postsIn }: ChannelView,
  names: Names,
): Html => {
  const posts = postsIn(guild, id);
  return html`<section id="channel-${id}">
<h2># ${name}</h2>
${posts.length === 0 ? null : html`<ol class="messages">${posts.map((message) => messageItem(message, as, names))}</ol>`}
<form method="post" class="line">
<input type="hidden" name="as" value="${as}">
<input type="hidden" name="channel" value="${id}">
${
  mayPost
    ? html`The bot may post here. <button name="posting" value="closed">Close to the bot</button>`
    : html`The bot may not post here. <button name="posting" value="open">Open to the bot</button>`
}
</form>
</section>`;
};

const commandOption = ({ name, texts, options = [] }: (typeof listings)[number]): Html => {
  const isInMenu = texts.description === null;
  return html`<option value="${isInMenu ? "" : "/"}${name}${isInMenu || options[0] === "user" ? " @" : ""}">`;
};

const messageItem = (shown: ChannelMessage, as: ChatId, names: Names): Html => {
  const { id, chatId, asked, message, isPublic } = shown;
  const buttons = buttonsOf(shown);
  return html`<li>
<small>${chatId === null ? "The bot" : html`${names.user(chatId)}: ${asked}`}</small>
<p>${message === null ? html`The service is thinking … <a href="?as=${as}">Look again</a>` : messageHtml(message.content, names)}</p>
${
  buttons.length === 0
    ? null
    : html`<form method="post" class="line"><input type="hidden" name="as" value="${as}"><input type="hidden" name="message" value="${id}">
${buttons.map(({ label, url, custom_id }) =>
  url === undefined
    ? html`<button name="action" value="${custom_id ?? ""}">${label}</button>`
    : html`<a class="button" href="${url}">${label}</a>`,
)}</form>`
}
<small>${isPublic ? "Everybody sees this" : `Only ${names.user(chatId ?? as)} sees this`}</small>
</li>`;
};

interface Names {
  readonly user: (chatId: string) => string;
  readonly role: (roleId: string) => string;
}

const marks =
  /\\(?<escaped>[^A-Za-z\d\s])|\*\*(?<bold>(?:\\.|[^*])+)\*\*|`(?<code>[^`]+)`|<@&(?<role>\d+)>|<@(?<user>\d+)>|<t:(?<time>\d+):[Df]>|\[(?<label>(?:\\.|[^\]])+)\]\(<(?<url>[^>]+)>\)|(?<line>\n)/gu;

/** Shows the markup of a message: bold text, links, code, mentions and times. */
const messageHtml = (text: string, names: Names): ReadonlyArray<Html> => {
  const parts: Array<Html> = [];
  let end = 0;
  for (const found of text.matchAll(marks)) {
    parts.push(html`${text.slice(end, found.index)}`, markHtml(found.groups ?? {}, names));
    end = found.index + found[0].length;
  }
  return [...parts, html`${text.slice(end)}`];
};

const markHtml = (
  { escaped, bold, code, role, user, time, label, url }: Readonly<Record<string, string | undefined>>,
  names: Names,
): Html => {
  if (escaped !== undefined) return html`${escaped}`;
  if (bold !== undefined) return html`<strong>${messageHtml(bold, names)}</strong>`;
  if (code !== undefined) return html`<code>${code}</code>`;
  if (role !== undefined) return html`<mark>@${names.role(role)}</mark>`;
  if (user !== undefined) return html`<mark>@${names.user(user)}</mark>`;
  if (time !== undefined) return html`${new Date(Number(time) * 1_000).toISOString().slice(0, 10)}`;
  if (url !== undefined) return html`<a href="${url}">${messageHtml(label ?? url, names)}</a>`;
  return html`<br>`;
};
